// Dot product by cuBLAS (cublasSdot), the yardstick of fp32. The result stays on the device, so
// that the call does not wait. For fp16 and bf16 there is cublasDotEx, but it rounds the result to
// the format of its inputs, while dot's result is fp32 (cuBLAS documentation, table of
// cublasDotEx).
#include "kernels/common/cuda/lib/cublas.cuh"

#include "kernels/common/registry.hpp"

namespace ridgebench::cuda {
namespace {

Cublas prepare(Queue& queue, const Shape& /*shape*/) { return {queue, CUBLAS_POINTER_MODE_DEVICE}; }

Launch bind(Queue& /*queue*/, const Cublas& cublas, const Shape& shape, const float* x,
            const float* y, float* s) {
  return [=, n = shape["n"]] { check(cublasSdot_64(cublas.handle(), n, x, 1, y, 1, s)); };
}

const CudaRegistration cublas{{.operation = "dot",
                               .name = "cublas",
                               .engine = Engine::fma,
                               .origin = Origin::library,
                               .supports = supports_cublas},
                              planned(prepare, bind)};

}  // namespace
}  // namespace ridgebench::cuda
