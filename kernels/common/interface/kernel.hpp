// Everything that a kernel outside the tree includes, installed as <ridgebench/kernel.hpp>. A .cu
// also includes what it needs of "kernels/common/cuda/".
#pragma once

#include "kernels/common/elementwise.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/interface/kernel_interface.hpp"
#include "kernels/common/interface/native_types.hpp"
#include "kernels/common/operation.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/common/sweep.hpp"
