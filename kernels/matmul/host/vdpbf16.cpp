// The register tile of `packed` with AVX512_BF16: one instruction multiplies pairs of bf16 and adds
// both products to an fp32 sum. fp8 widens to bf16 exactly. The limit is still the vector units, at
// twice the fp32 rate where two such instructions start per cycle (AMD Zen 5), at half of it where
// one starts every other cycle (Intel). Denormal inputs and results count as zero.
#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/gelu.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/common/cpu/target_begin_v4.hpp"

#include "kernels/common/cpu/pack.hpp"
#include "kernels/common/cpu/bf16_pairs.hpp"
#include "kernels/matmul/host/blocked_product.hpp"
#include "kernels/matmul/host/register_tile.hpp"

namespace ridgebench {
namespace {

struct PairMultiplyAdd {
  using Word = cpu::Bf16Pair;
  [[gnu::always_inline]] static void apply(cpu::Vector& sum, const std::uint32_t* a,
                                           cpu::Vector row_of_b) {
    cpu::multiply_add_pairs(sum, cpu::in_every_lane(*a), row_of_b);
  }
};
using Kernel = RegisterTile<PairMultiplyAdd>;

Workspace prepare_pairs(Queue& queue, const Shape& shape) {
  cpu::require_bf16_pairs();
  return prepare<Kernel>(queue, shape);
}

}  // namespace
}  // namespace ridgebench
#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

template <class A, class B, class Out>
auto product() {
  return planned(prepare_pairs, bind<Kernel, A, B, Out>);
}
template <class A, class B, class Out>
auto product_gelu() {
  return planned(prepare_pairs, bind_gelu<Kernel, A, B, Out>);
}

const Registration vdpbf16{{.operation = "matmul",
                            .name = "vdpbf16",
                            .engine = Engine::fma,
                            .arithmetic = Format::bf16,
                            .isa = cpu::kIsa},
                           product<Bf16, Bf16, Bf16>(),
                           product<Fp8E4m3, Fp8E4m3, Bf16>(),
                           product<Fp8E5m2, Fp8E5m2, Bf16>(),
                           product<Fp8E4m3, Fp8E5m2, Bf16>(),
                           product<Fp8E5m2, Fp8E4m3, Bf16>()};

const Registration vdpbf16_gelu{{.operation = "matmul_gelu",
                                 .name = "vdpbf16",
                                 .engine = Engine::fma,
                                 .arithmetic = Format::bf16,
                                 .isa = cpu::kIsa,
                                 .approximation_error = cpu::kGeluError},
                                product_gelu<Bf16, Bf16, Bf16>(),
                                product_gelu<Fp8E4m3, Fp8E4m3, Bf16>(),
                                product_gelu<Fp8E5m2, Fp8E5m2, Bf16>(),
                                product_gelu<Fp8E4m3, Fp8E5m2, Bf16>(),
                                product_gelu<Fp8E5m2, Fp8E4m3, Bf16>()};

}  // namespace
}  // namespace ridgebench
