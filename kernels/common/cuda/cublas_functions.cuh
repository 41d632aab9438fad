// The functions of cuBLAS and cuBLASLt that are called here, under their own names. The libraries
// are loaded when one is called first: that takes some 80 ms, for which a command that multiplies
// nothing need not wait, and where they are missing only the rows of these yardsticks are.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>
#include <dlfcn.h>

#include <string>

#include "kernels/common/error.hpp"

namespace ridgepoint::cuda {

// Throws Unsupported where the library, or such a function in it, is missing.
inline void* cublas_function(const std::string& name) {
  static const std::string file = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
  static void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Unsupported(file + " is not installed, or cannot be loaded");
  void* const function = dlsym(library, name.c_str());  // finds those of cuBLASLt, which it needs
  if (function == nullptr) throw Unsupported(file + " has no function " + name);
  return function;
}

// The headers rename some functions to newer versions by macros, hence a macro, and two steps.
#define RIDGEPOINT_TEXT(name) #name
#define RIDGEPOINT_CUBLAS(name)                                                      \
  inline constexpr auto name = [](auto... arguments) {                               \
    static auto* const function =                                                    \
        reinterpret_cast<decltype(&::name)>(cublas_function(RIDGEPOINT_TEXT(name))); \
    return function(arguments...);                                                   \
  }

RIDGEPOINT_CUBLAS(cublasGetStatusName);
RIDGEPOINT_CUBLAS(cublasGetStatusString);
RIDGEPOINT_CUBLAS(cublasCreate);
RIDGEPOINT_CUBLAS(cublasDestroy);
RIDGEPOINT_CUBLAS(cublasSetStream);
RIDGEPOINT_CUBLAS(cublasSetWorkspace);
RIDGEPOINT_CUBLAS(cublasSetPointerMode);
RIDGEPOINT_CUBLAS(cublasSdot_64);
RIDGEPOINT_CUBLAS(cublasSgemv_64);
RIDGEPOINT_CUBLAS(cublasGemmEx_64);
RIDGEPOINT_CUBLAS(cublasLtGetVersion);
RIDGEPOINT_CUBLAS(cublasLtCreate);
RIDGEPOINT_CUBLAS(cublasLtDestroy);
RIDGEPOINT_CUBLAS(cublasLtMatrixLayoutCreate);
RIDGEPOINT_CUBLAS(cublasLtMatrixLayoutDestroy);
RIDGEPOINT_CUBLAS(cublasLtMatmulDescCreate);
RIDGEPOINT_CUBLAS(cublasLtMatmulDescDestroy);
RIDGEPOINT_CUBLAS(cublasLtMatmulDescSetAttribute);
RIDGEPOINT_CUBLAS(cublasLtMatmulPreferenceCreate);
RIDGEPOINT_CUBLAS(cublasLtMatmulPreferenceDestroy);
RIDGEPOINT_CUBLAS(cublasLtMatmulPreferenceSetAttribute);
RIDGEPOINT_CUBLAS(cublasLtMatmulAlgoGetHeuristic);
RIDGEPOINT_CUBLAS(cublasLtMatmul);

#undef RIDGEPOINT_CUBLAS
#undef RIDGEPOINT_TEXT

}  // namespace ridgepoint::cuda
