// Tensor cores by mma.sync, fed only from registers: a warp loads all fragments of one tile of
// 32 x 32 x 32 and multiplies them again and again into eight independent accumulators of 16 x 8.
// The limit is the rate at which the tensor cores accept mma.sync: their full rate up to compute
// capability 8.9, two thirds of it on 9.0, where only wgmma reaches the rest.
#include "kernels/ceilings/sync_instruction.cuh"

namespace ridgebench::cuda::ceilings_tensor_mma_sync {

template <class T>
__global__ void __launch_bounds__(kMmaThreads)
    tensor_peak_mma_sync(const T* a, const T* b, float* y, std::int64_t tiles, int iterations) {
  multiply_tiles<SyncInstruction<T>>(a, b, y, tiles, iterations);
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  return launch_tiles(tensor_peak_mma_sync<T>, queue, shape, a, b, y);
}

// Sums of fp8 products keep 13 fraction bits (fp8_accumulation.hpp has the sources), and each
// product is truncated to them. A sum of kProductsPerSum x k terms that grows evenly thus loses up
// to k / 2 units of 2^-13 per step, of a sum that is half its final size on average.
constexpr double kFp8Error = 0x1p-13 * (kTensorTile.k / 2) * (kProductsPerSum / 2);

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair format) {
  if (machine.compute_capability < 80) return "mma.sync needs compute capability 8.0";
  if (info(format.a).storage_bytes == 1) {
    if (const auto reason = mma_lacks_fp8(machine)) return reason;
    const int capability = machine.compute_capability;
    // By conversions to fp16 and fp16 products, which the compiler computes once and adds often.
    if (capability >= 90 && capability < 120) {
      return "compute capabilities 9.0 and 10.x emulate mma.sync in fp8";
    }
  }
  return mma_limit(shape, kTensorTile);
}

const Registration mma_sync{[]<class T>() {
                              return Technique{.operation = "tensor_peak",
                                               .name = "mma_sync",
                                               .engine = Engine::tensor,
                                               .supports = supports,
                                               .accumulation_error = kIsFp8<T> ? kFp8Error : 0,
                                               .full_rate = mma_sync_is_full_rate};
                            },
                            Types<Tf32>{} + HalfTypes{} + Fp8Types{},
                            []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::ceilings_tensor_mma_sync
