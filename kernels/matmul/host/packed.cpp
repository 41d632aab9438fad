// Packed panels and a register tile. pack widens both inputs to fp32 and copies them once into the
// order in which the inner loop reads them (blocked_product.hpp). The micro-kernel keeps a tile of
// C in registers, so that every number that it loads serves many multiply-adds: the limit is now
// the FMA units. The block-scaled form multiplies numbers by their scales while it packs them, once
// for each number and not for each block of each sum. The grouped form multiplies one group after
// the other, each on all threads.
#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/gelu.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/product_strides.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/block_scales.hpp"
#include "kernels/matmul/token_groups.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/matmul/host/pack.hpp"
#include "kernels/matmul/host/blocked_product.hpp"

namespace ridgebench {
namespace {

struct RegisterTile {
  using Word = cpu::FloatWord;
  // The accumulators, a row of b and a word of a fill the 16 vector registers (32 with AVX-512).
  static constexpr std::int64_t vectors = RIDGEBENCH_ISA_LEVEL == 4 ? 4 : 2;
  static constexpr std::int64_t mr = 6;
  static constexpr std::int64_t nr = vectors * cpu::kLanes;
  static constexpr std::int64_t step = 1;
  static constexpr std::int64_t run = 0;
  // A block's rows of A, its panel of B and its accumulators stay in the level-2 cache.
  static constexpr std::int64_t kc = 512;
  static std::int64_t mc(std::int64_t /*k*/) { return 192; }

  static void begin() {}
  static void end() {}

  // Not inlined: the loop needs all registers.
  [[gnu::noinline]] static void multiply(std::int64_t words, const std::uint32_t* a,
                                         std::int64_t lda, const std::uint32_t* b, float* c,
                                         bool add, cpu::PrefetchLines& prefetch) {
    Accumulators sum;
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < mr; ++i) {
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < vectors; ++v)
        sum[i][v] = add ? cpu::load(c + i * nr + v * cpu::kLanes) : cpu::Vector{};
    }
    // Four steps at a time: the loop's counter would take issue slots from the multiply-adds.
    constexpr std::int64_t kTogether = 4;
    cpu::PrefetchLines lines = prefetch;  // in registers
    std::int64_t p = 0;
    for (; p + kTogether <= words; p += kTogether) {
      lines.prefetch_next();
#pragma GCC unroll 4
      for (std::int64_t q = p; q < p + kTogether; ++q) add_products(sum, a + q, lda, b + q * nr);
    }
    for (; p < words; ++p) add_products(sum, a + p, lda, b + p * nr);
    prefetch = lines;
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < mr; ++i) {
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < vectors; ++v)
        cpu::store(c + i * nr + v * cpu::kLanes, sum[i][v]);
    }
  }

 private:
  using Accumulators = cpu::Vector[mr][vectors];

  // One step: a word of each row of a times a row of b.
  [[gnu::always_inline]] static void add_products(Accumulators& sum, const std::uint32_t* a,
                                                  std::int64_t lda, const std::uint32_t* b) {
    cpu::Vector row[vectors];
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < vectors; ++v) row[v] = cpu::load(b + v * cpu::kLanes);
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < mr; ++i) {
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < vectors; ++v) multiply_add(sum[i][v], a + i * lda, row[v]);
    }
  }
  [[gnu::always_inline]] static void multiply_add(cpu::Vector& sum, const std::uint32_t* a,
                                                  cpu::Vector row_of_b) {
    float element = 0;
    std::memcpy(&element, a, sizeof element);
#if RIDGEBENCH_ISA_LEVEL >= 3
    // The compiler also overwrites factors, copies, and is one register short: one accumulator of
    // the tile would lie in memory.
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(element - cpu::Vector{}), "v"(row_of_b));
#else
    sum += element * row_of_b;
#endif
  }
};

}  // namespace
}  // namespace ridgebench
#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

using Products = decltype(Fp32Products{} + Tf32Products{} + HalfProducts{} + Fp8Products{});

Technique technique(const std::string& operation, double approximation_error) {
  return {.operation = operation,
          .name = "packed",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .isa = cpu::kIsa,
          .approximation_error = approximation_error,
          .workspace_bytes = workspace_bytes<RegisterTile>,
          .optional_dimensions = true};
}

const Registration packed{
    technique("matmul", 0), Products{} + Types<ProductTypes<Tf32x3>>{}, []<class P>() {
      return planned(prepare<RegisterTile>,
                     bind<RegisterTile, typename P::A, typename P::B, typename P::Out>);
    }};
const Registration packed_gelu{
    technique("matmul_gelu", cpu::kGeluError), Products{}, []<class P>() {
      return planned(prepare<RegisterTile>,
                     bind_gelu<RegisterTile, typename P::A, typename P::B, typename P::Out>);
    }};
const Registration packed_block_scaled{
    technique("matmul_block_scaled", 0),
    planned(prepare<RegisterTile>, bind_block_scaled<RegisterTile, Fp32Scales>)};
const Registration packed_mxfp8{
    technique("matmul_mxfp8", 0),
    planned(prepare<RegisterTile>, bind_block_scaled<RegisterTile, Mxfp8>)};
const Registration packed_nvfp4{
    technique("matmul_nvfp4", 0),
    planned(prepare<RegisterTile>, bind_block_scaled<RegisterTile, Nvfp4>)};

// The workspace of the group that needs the most.
WorkspaceBytes bytes_for_groups(std::int64_t threads, const Shape& shape) {
  WorkspaceBytes most{};
  for (const TokenGroup& group : busy_groups(shape)) {
    const auto own = bytes_of_workspace<RegisterTile>(threads, group.product(shape));
    most = {std::max(most.a, own.a), std::max(most.b, own.b),
            std::max(most.accumulators, own.accumulators)};
  }
  return most;
}

double workspace_of_groups(const Machine& machine, const Shape& shape) {
  const WorkspaceBytes bytes = bytes_for_groups(machine.units, shape);
  return static_cast<double>(bytes.a + bytes.b + bytes.accumulators);
}

Workspace prepare_groups(Queue& queue, const Shape& shape) {
  const WorkspaceBytes bytes = bytes_for_groups(queue.threads(), shape);
  return {queue.allocate(bytes.a), queue.allocate(bytes.b), queue.allocate(bytes.accumulators)};
}

template <class T>
Launch bind_groups(Queue& queue, const Workspace& workspace, const Shape& shape, const T* a,
                   const T* b, T* c) {
  std::vector<Launch> products;
  for (const TokenGroup& group : busy_groups(shape)) {
    products.push_back(bind<RegisterTile>(
        queue, workspace, group.product(shape), a + group.first * shape["k"],
        b + group.index * shape["n"] * shape["k"], c + group.first * shape["n"]));
  }
  return [products] {
    for (const Launch& product : products) product();
  };
}

Technique grouped() {
  Technique packed_groups = technique("matmul_grouped", 0);
  packed_groups.workspace_bytes = workspace_of_groups;
  return packed_groups;
}

const Registration packed_grouped{grouped(), Types<float, Bf16>{}, []<class T>() {
                                    return planned(prepare_groups, bind_groups<T>);
                                  }};

}  // namespace
}  // namespace ridgebench
