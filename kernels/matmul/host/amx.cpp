// Intel AMX: an instruction that multiplies two tiles of 16 x 32 bf16 and adds to an fp32 tile.
// pack widens fp8 to bf16 exactly. The limit is the tensor engine, and with it the caches that feed
// its tiles. Denormal inputs and results count as zero. tests/kernels/matmul/host/amx_test.cpp
// checks the packing and the indices with emulated tiles on processors without AMX.
#include "kernels/common/cpu/amx.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/gelu.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/product_strides.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin_v4.hpp"
#include "kernels/matmul/host/pack.hpp"
#include "kernels/matmul/host/amx_kernel.hpp"
#include "kernels/matmul/host/blocked_product.hpp"
#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

using Kernel = AmxKernel<cpu::AmxTiles>;

Technique technique(const std::string& operation, double approximation_error) {
  return {.operation = operation,
          .name = "amx",
          .engine = Engine::tensor,
          .arithmetic = Format::bf16,
          .isa = cpu::kIsa,
          .supports = cpu::supports_amx,
          .approximation_error = approximation_error,
          .workspace_bytes = workspace_bytes<Kernel>,
          .optional_dimensions = true};
}

const Registration amx{
    technique("matmul", 0), Types<ProductTypes<Bf16>>{} + Fp8Products{}, []<class P>() {
      return planned(prepare<Kernel>, bind<Kernel, typename P::A, typename P::B, typename P::Out>);
    }};
const Registration amx_gelu{technique("matmul_gelu", cpu::kGeluError),
                            Types<ProductTypes<Bf16>>{} + Fp8Products{}, []<class P>() {
                              return planned(
                                  prepare<Kernel>,
                                  bind_gelu<Kernel, typename P::A, typename P::B, typename P::Out>);
                            }};

}  // namespace
}  // namespace ridgebench
