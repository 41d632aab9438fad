// Intel AMX: an instruction that multiplies two tiles of 16 x 32 bf16 and adds to an fp32 tile. fp8
// widens to bf16 exactly while packing. The limit is the tensor engine, and with it the caches that
// feed its tiles. Denormal inputs and results count as zero. Where there is no AMX, its packing and
// indexing are tested with emulated tiles (tests/kernels/matmul/host/amx_test.cpp).
#include "kernels/common/cpu/amx.hpp"

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
#include "kernels/common/cpu/target_begin_v4.hpp"

#include "kernels/common/cpu/pack.hpp"
#include "kernels/common/cpu/amx_kernel.hpp"
#include "kernels/matmul/host/blocked_product.hpp"

namespace ridgebench {
namespace {

using Kernel = AmxKernel<cpu::AmxTiles>;

Workspace prepare_amx(Queue& queue, const Shape& shape) {
  cpu::require_amx_bf16();
  return prepare<Kernel>(queue, shape);
}

}  // namespace
}  // namespace ridgebench
#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

template <class A, class B, class Out>
auto product() {
  return planned(prepare_amx, bind<Kernel, A, B, Out>);
}
template <class A, class B, class Out>
auto product_gelu() {
  return planned(prepare_amx, bind_gelu<Kernel, A, B, Out>);
}

const Registration amx{{.operation = "matmul",
                        .name = "amx",
                        .engine = Engine::tensor,
                        .arithmetic = Format::bf16,
                        .isa = cpu::kIsa},
                       product<Bf16, Bf16, Bf16>(),
                       product<Fp8E4m3, Fp8E4m3, Bf16>(),
                       product<Fp8E5m2, Fp8E5m2, Bf16>(),
                       product<Fp8E4m3, Fp8E5m2, Bf16>(),
                       product<Fp8E5m2, Fp8E4m3, Bf16>()};

const Registration amx_gelu{{.operation = "matmul_gelu",
                             .name = "amx",
                             .engine = Engine::tensor,
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
