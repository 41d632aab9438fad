// Stands in for the toolkit's header under g++: the same, and what it has for nvcc alone.
#pragma once

#include_next <cuda_runtime.h>
// Before __CUDA_ARCH__ is set: their host forms are wanted.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <math.h>
#include <string.h>

#define __CUDA_ARCH__ 890
#define __launch_bounds__(...)

#include "tests/emulator/device_functions.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/indices.hpp"
#include "tests/emulator/ptx.hpp"
