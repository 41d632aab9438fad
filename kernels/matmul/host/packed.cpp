// Packed panels and a register tile. Both inputs are widened to fp32 and copied once into the order
// in which the inner loop reads them (blocked_product.hpp). The inner loop keeps a tile of C in
// registers, so that every number loaded serves many multiply-adds (register_tile.hpp): the limit
// is now the FMA units.
#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/gelu.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/pack.hpp"
#include "kernels/matmul/host/blocked_product.hpp"
#include "kernels/matmul/host/register_tile.hpp"

namespace ridgebench {
namespace {

struct FusedMultiplyAdd {
  using Word = cpu::FloatWord;
  [[gnu::always_inline]] static void apply(cpu::Vector& sum, const std::uint32_t* a,
                                           cpu::Vector row_of_b) {
    float element = 0;
    std::memcpy(&element, a, sizeof element);
#if RIDGEBENCH_ISA_LEVEL >= 3
    // The compiler also overwrites factors, copies, and is one register short: a sum in memory.
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(element - cpu::Vector{}), "v"(row_of_b));
#else
    sum += element * row_of_b;
#endif
  }
};
using Kernel = RegisterTile<FusedMultiplyAdd>;

}  // namespace
}  // namespace ridgebench
#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

template <class A, class B, class Out>
auto product() {
  return planned(prepare<Kernel>, bind<Kernel, A, B, Out>);
}
template <class A, class B, class Out>
auto product_gelu() {
  return planned(prepare<Kernel>, bind_gelu<Kernel, A, B, Out>);
}

const Registration packed{{.operation = "matmul",
                           .name = "packed",
                           .engine = Engine::fma,
                           .arithmetic = Format::fp32,
                           .isa = cpu::kIsa},
                          product<float, float, float>(),
                          product<Tf32, Tf32, Tf32>(),
                          product<Tf32x3, Tf32x3, Tf32x3>(),
                          product<Fp16, Fp16, Fp16>(),
                          product<Bf16, Bf16, Bf16>(),
                          product<Fp8E4m3, Fp8E4m3, Bf16>(),
                          product<Fp8E5m2, Fp8E5m2, Bf16>(),
                          product<Fp8E4m3, Fp8E5m2, Bf16>(),
                          product<Fp8E5m2, Fp8E4m3, Bf16>()};

const Registration packed_gelu{{.operation = "matmul_gelu",
                                .name = "packed",
                                .engine = Engine::fma,
                                .arithmetic = Format::fp32,
                                .isa = cpu::kIsa,
                                .approximation_error = cpu::kGeluError},
                               product_gelu<float, float, float>(),
                               product_gelu<Tf32, Tf32, Tf32>(),
                               product_gelu<Fp16, Fp16, Fp16>(),
                               product_gelu<Bf16, Bf16, Bf16>(),
                               product_gelu<Fp8E4m3, Fp8E4m3, Bf16>(),
                               product_gelu<Fp8E5m2, Fp8E5m2, Bf16>(),
                               product_gelu<Fp8E4m3, Fp8E5m2, Bf16>(),
                               product_gelu<Fp8E5m2, Fp8E4m3, Bf16>()};

}  // namespace
}  // namespace ridgebench
