// Replaces the kernels' header of this name, as wgmma.cuh beside it does.
#pragma once

#include "kernels/common/cuda/ptx/wgmma.cuh"

namespace ridgebench::cuda {

using WgmmaInt8Accumulators = std::int32_t[128];

inline void wgmma_mma_async_int8(
    WgmmaInt8Accumulators& d, std::uint64_t a, std::uint64_t b, bool scale_d,
    const std::source_location& where = std::source_location::current()) {
  emulator::wgmma_multiply({.a_format = Format::int8,
                            .b_format = Format::int8,
                            .columns = 256,
                            .across_a = false,
                            .across_b = false,
                            .a = a,
                            .b = b,
                            .add = scale_d,
                            .sums = d},
                           where);
}

}  // namespace ridgebench::cuda
