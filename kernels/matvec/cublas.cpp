// Matrix-vector product by cuBLAS, the yardstick: cublasSgemv for fp32. gemv does not take fp16 and
// bf16, so these are a matrix product with one column (cublasGemmEx). A is row-major, which cuBLAS
// reads as the transpose of a column-major matrix.
#include "kernels/common/cuda/lib/cublas.cuh"

#include "kernels/common/registry.hpp"

namespace ridgebench::cuda {
namespace {

Cublas prepare(Queue& queue, const Shape& /*shape*/) { return {queue, CUBLAS_POINTER_MODE_HOST}; }

Launch bind_gemv(Queue& /*queue*/, const Cublas& cublas, const Shape& shape, const float* a,
                 const float* x, float* y) {
  return [=, m = shape["m"], n = shape["n"]] {
    const float one = 1;
    const float zero = 0;
    check(cublasSgemv_64(cublas.handle(), CUBLAS_OP_T, n, m, &one, a, n, x, 1, &zero, y, 1));
  };
}

template <class T>
Launch bind_gemm(Queue& /*queue*/, const Cublas& cublas, const Shape& shape, const T* a, const T* x,
                 T* y) {
  return [=, m = shape["m"], n = shape["n"]] {
    constexpr cudaDataType_t type = kCublasType<T>;
    const float one = 1;
    const float zero = 0;
    check(cublasGemmEx_64(cublas.handle(), CUBLAS_OP_T, CUBLAS_OP_N, m, 1, n, &one, a, type, n, x,
                          type, n, &zero, y, type, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  };
}

Technique technique(Engine engine) {
  return {.operation = "matvec",
          .name = "cublas",
          .engine = engine,
          .origin = Origin::library,
          .supports = supports_cublas};
}

const CudaRegistration gemv{technique(Engine::fma), planned(prepare, bind_gemv)};
const CudaRegistration gemm{technique(Engine::tensor), HalfTypes{},
                            []<class T>() { return planned(prepare, bind_gemm<T>); }};

}  // namespace
}  // namespace ridgebench::cuda
