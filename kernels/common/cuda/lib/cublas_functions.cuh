// The functions of cuBLAS and cuBLASLt that the yardsticks call, under their own names. The first
// call of one loads the libraries, which takes about 80 ms that other commands do not spend; where
// they are missing, only the rows of these yardsticks are skipped.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>
#include <dlfcn.h>

#include <string>

#include "kernels/common/error.hpp"

namespace ridgebench::cuda {

// Throws Unsupported where the library, or such a function in it, is missing.
inline void* cublas_function(const std::string& name) {
  static const std::string file = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
  static void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Unsupported(file + " is not installed, or cannot be loaded");
  void* const function =
      dlsym(library, name.c_str());  // also finds functions of cuBLASLt, on which it depends
  if (function == nullptr) throw Unsupported(file + " has no function " + name);
  return function;
}

// The headers rename some functions to newer versions by macros, hence a macro, and two steps.
#define RIDGEBENCH_TEXT(name) #name
#define RIDGEBENCH_CUBLAS(name)                                                      \
  inline constexpr auto name = [](auto... arguments) {                               \
    static auto* const function =                                                    \
        reinterpret_cast<decltype(&::name)>(cublas_function(RIDGEBENCH_TEXT(name))); \
    return function(arguments...);                                                   \
  }

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
RIDGEBENCH_CUBLAS(cublasLtMatmulDescCreate);
RIDGEBENCH_CUBLAS(cublasLtMatmulDescDestroy);
RIDGEBENCH_CUBLAS(cublasLtMatmulDescSetAttribute);
RIDGEBENCH_CUBLAS(cublasLtMatmulPreferenceCreate);
RIDGEBENCH_CUBLAS(cublasLtMatmulPreferenceDestroy);
RIDGEBENCH_CUBLAS(cublasLtMatmulPreferenceSetAttribute);
RIDGEBENCH_CUBLAS(cublasLtMatmulAlgoGetHeuristic);
RIDGEBENCH_CUBLAS(cublasLtMatmul);

#undef RIDGEBENCH_CUBLAS
#undef RIDGEBENCH_TEXT

}  // namespace ridgebench::cuda
