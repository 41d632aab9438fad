// CUB_VERSION of the toolkit's CUB; 0 if it has none.
#pragma once

#if __has_include(<cub/version.cuh>)
#include <cub/version.cuh>
#else
#define CUB_VERSION 0
#endif

#include "kernels/common/cuda/lib/cub_version.hpp"
