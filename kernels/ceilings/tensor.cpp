// Intel AMX between its tile registers: two tiles of A and two of B are loaded once and multiplied
// again and again into four sums. The limit is the rate at which the tensor engine accepts work.
// tests/kernels/matmul/host/amx_test.cpp runs it on emulated tiles as well.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "kernels/ceilings/products.hpp"
#include "kernels/common/cpu/amx.hpp"
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/cpu/target_begin_v4.hpp"

#include "kernels/common/cpu/pack.hpp"
#include "kernels/common/cpu/amx_kernel.hpp"

namespace ridgebench {
namespace {

using Kernel = AmxKernel<cpu::AmxTiles>;
static_assert(Kernel::rows == kTensorTile.m && Kernel::columns == kTensorTile.n);
static_assert(Kernel::step * cpu::Bf16Pair::steps == kTensorTile.k);

Launch bind(Queue& queue, const Shape& shape, const Bf16* a, const Bf16* b, float* y) {
  cpu::require_amx_bf16();
  return [tiles = shape["tiles"], iterations = shape["iterations"], threads = queue.threads(), a, b,
          y] {
#pragma omp parallel num_threads(threads)
    {
      Kernel::begin();
#pragma omp for schedule(static)
      for (std::int64_t t = 0; t < tiles; ++t) {
        Kernel::repeat_product(iterations, a + t * kTensorTile.m * kTensorTile.k,
                               b + t * kTensorTile.n * kTensorTile.k,
                               y + t * kTensorTile.m * kTensorTile.n);
      }
      Kernel::end();
    }
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration amx{
    {.operation = "tensor_peak", .name = "amx", .engine = Engine::tensor, .isa = cpu::kIsa}, bind};

}  // namespace
}  // namespace ridgebench
