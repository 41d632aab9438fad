// The functions of cuBLAS and cuBLASLt that the yardsticks call, under their own names. The first
// call of one loads the libraries, which takes about 80 ms that other commands do not spend; where
// they are missing, only the rows of these yardsticks are skipped. Where the toolkit has no headers
// of them, no_cublas.cuh replaces them.
#pragma once

#ifdef RIDGEBENCH_NO_CUBLAS
#include "kernels/common/cuda/lib/no_cublas.cuh"
#else
#include <cublasLt.h>
#include <cublas_v2.h>

#include "kernels/common/lib/library_folders.hpp"
#include "kernels/common/shared_library.hpp"

namespace ridgebench::cuda {

// Its symbols include those of cuBLASLt, on which it depends.
inline const SharedLibrary& cublas_library() {
  static const SharedLibrary loaded(cublas_places(CUBLAS_VER_MAJOR));
  return loaded;
}

#define RIDGEBENCH_CUBLAS(name) RIDGEBENCH_LOADED_FUNCTION(cublas_library(), name)

RIDGEBENCH_CUBLAS(cublasGetStatusName);
RIDGEBENCH_CUBLAS(cublasGetStatusString);
RIDGEBENCH_CUBLAS(cublasCreate);
RIDGEBENCH_CUBLAS(cublasDestroy);
RIDGEBENCH_CUBLAS(cublasSetStream);
RIDGEBENCH_CUBLAS(cublasSetWorkspace);
RIDGEBENCH_CUBLAS(cublasSetPointerMode);
RIDGEBENCH_CUBLAS(cublasSdot_64);
RIDGEBENCH_CUBLAS(cublasSgemv_64);
RIDGEBENCH_CUBLAS(cublasGemmEx_64);
RIDGEBENCH_CUBLAS(cublasLtGetVersion);
RIDGEBENCH_CUBLAS(cublasLtCreate);
RIDGEBENCH_CUBLAS(cublasLtDestroy);
RIDGEBENCH_CUBLAS(cublasLtMatrixLayoutCreate);
RIDGEBENCH_CUBLAS(cublasLtMatrixLayoutDestroy);
RIDGEBENCH_CUBLAS(cublasLtMatrixLayoutSetAttribute);
RIDGEBENCH_CUBLAS(cublasLtMatmulDescCreate);
RIDGEBENCH_CUBLAS(cublasLtMatmulDescDestroy);
RIDGEBENCH_CUBLAS(cublasLtMatmulDescSetAttribute);
RIDGEBENCH_CUBLAS(cublasLtMatmulPreferenceCreate);
RIDGEBENCH_CUBLAS(cublasLtMatmulPreferenceDestroy);
RIDGEBENCH_CUBLAS(cublasLtMatmulPreferenceSetAttribute);
RIDGEBENCH_CUBLAS(cublasLtMatmulAlgoGetHeuristic);
RIDGEBENCH_CUBLAS(cublasLtMatmulAlgoConfigGetAttribute);
RIDGEBENCH_CUBLAS(cublasLtMatmul);

#undef RIDGEBENCH_CUBLAS

}  // namespace ridgebench::cuda
#endif
