// Intel AMX between its tile registers: the kernel loads two tiles of A and two of B once and
// multiplies them again and again into four accumulators. The limit is the rate at which the tensor
// engine accepts work. tests/kernels/matmul/host/amx_test.cpp runs it on emulated tiles as well.
#include "kernels/ceilings/products.hpp"
#include "kernels/common/cpu/amx.hpp"

#include "kernels/common/cpu/target_begin_v4.hpp"

namespace ridgebench {
namespace {

using Accumulators = cpu::AmxAccumulators<cpu::AmxTiles>;
static_assert(Accumulators::kRows == kTensorTile.m && Accumulators::kColumns == kTensorTile.n);
static_assert(2 * cpu::kTileWords == kTensorTile.k);

Launch bind(Queue& queue, const Shape& shape, const Bf16* a, const Bf16* b, float* y) {
  return [tiles = shape["tiles"], iterations = shape["iterations"], threads = queue.threads(), a, b,
          y] {
#pragma omp parallel num_threads(threads)
    {
      cpu::AmxTiles::begin();
#pragma omp for schedule(static)
      for (std::int64_t t = 0; t < tiles; ++t) {
        cpu::repeat_amx_product<cpu::AmxTiles>(iterations, a + t * kTensorTile.m * kTensorTile.k,
                                               b + t * kTensorTile.n * kTensorTile.k,
                                               y + t * kTensorTile.m * kTensorTile.n);
      }
      cpu::AmxTiles::end();
    }
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration amx{{.operation = "tensor_peak",
                        .name = "amx",
                        .engine = Engine::tensor,
                        .isa = cpu::kIsa,
                        .supports = cpu::supports_amx},
                       Types<Bf16>{},
                       []<class>() { return bind; }};

}  // namespace
}  // namespace ridgebench
