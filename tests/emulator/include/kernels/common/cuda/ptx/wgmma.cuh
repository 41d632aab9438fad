// Replaces the kernels' header of this name, whose instructions name up to 128 registers each: the
// same interface on the emulator's wgmma.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/common/cuda/ptx/wgmma_layout.hpp"
#include "kernels/common/cuda/types.cuh"
#include "tests/emulator/hopper/wgmma.hpp"

namespace ridgebench::cuda {

template <int kN>
using WgmmaAccumulators = float[kN / 2];

inline void warpgroup_arrive(const std::source_location& where = std::source_location::current()) {
  emulator::wgmma_fence(where);
}

inline void warpgroup_commit_batch(
    const std::source_location& where = std::source_location::current()) {
  emulator::wgmma_commit(where);
}

template <int kPending>
void warpgroup_wait(const std::source_location& where = std::source_location::current()) {
  static_assert(kPending >= 0 && kPending < 8);
  emulator::wgmma_wait(kPending, where);
}

// It only restrains a compiler.
template <int kCount>
void warpgroup_fence_operand(float (& /*d*/)[kCount]) {}
template <int kCount>
void warpgroup_fence_operand(std::int32_t (& /*d*/)[kCount]) {}

using WgmmaFragmentA = std::uint32_t[4];

inline void warpgroup_fence_operand(WgmmaFragmentA& a) { emulator::wgmma_fragment(a); }

template <class A, class B, int kN, bool kTnspA = false, bool kTnspB = false>
void wgmma_mma_async(WgmmaAccumulators<kN>& d, std::uint64_t a, std::uint64_t b, bool scale_d,
                     const std::source_location& where = std::source_location::current()) {
  static_assert(std::is_same_v<A, B> || (kIsFp8<A> && kIsFp8<B>));
  static_assert(sizeof(A) == 2 || (!kTnspA && !kTnspB), "only 16-bit formats transpose");
  static_assert(is_wgmma_width(kN));
  emulator::wgmma_multiply({.a_format = A::format,
                            .b_format = B::format,
                            .columns = kN,
                            .across_a = kTnspA,
                            .across_b = kTnspB,
                            .a = a,
                            .b = b,
                            .add = scale_d,
                            .sums = d},
                           where);
}

template <class T, int kN>
void wgmma_mma_async_rs(WgmmaAccumulators<kN>& d, const WgmmaFragmentA& a, std::uint64_t b,
                        bool scale_d,
                        const std::source_location& where = std::source_location::current()) {
  static_assert(std::is_same_v<T, Tf32> || std::is_same_v<T, Bf16> || std::is_same_v<T, Fp8E4m3>);
  static_assert(kN == 8 || kN == 16 || kN == 32 || kN == 64 || kN == 96 || kN == 128 || kN == 192 ||
                kN == 256);
  emulator::wgmma_multiply({.a_format = T::format,
                            .b_format = T::format,
                            .columns = kN,
                            .across_a = false,
                            .across_b = false,
                            .a = 0,
                            .b = b,
                            .add = scale_d,
                            .sums = d,
                            .fragment = a},
                           where);
}

}  // namespace ridgebench::cuda
