// Wraps the toolkit's header for g++ and adds what the toolkit has for nvcc alone.
#pragma once

#include_next <cuda_runtime.h>
// Included before __CUDA_ARCH__ is set, for their host forms.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <math.h>
#include <string.h>

#define __CUDA_ARCH__ 900
#define __launch_bounds__(...)

#include "tests/emulator/core/device_functions.hpp"
#include "tests/emulator/core/indices.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/ptx/ptx.hpp"

template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute,
                                 int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, void (*kernel)(Parameters...),
                                           const cudaLaunchConfig_t* configuration) {
  return cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void*>(kernel),
                                        configuration);
}
