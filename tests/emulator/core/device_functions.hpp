// The functions that device code calls and nvcc has built in. Source: CUDA C++ Programming
// Guide, chapters on synchronisation, warp shuffle and atomic functions.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "tests/emulator/core/block.hpp"

namespace ridgebench::emulator {

// A lane's part in a shuffle: its value, and the lane whose value it receives.
template <class T>
struct Exchange {
  T value;
  unsigned source;
};

template <class T>
T shuffle(std::uint32_t mask, std::string_view what, T value, unsigned source,
          const std::source_location& where) {
  Exchange<T> own{value, source};
  Block::current().with_warp(
      mask, what, &own,
      [](const Lanes& lanes) {
        std::array<Exchange<T>, kWarp> given;
        std::memset(&given, 0xFF, sizeof given);  // from a lane that does not take part: undefined
        for (unsigned i = 0; i < kWarp; ++i) {
          if (lanes[i] != nullptr) given[i] = *static_cast<Exchange<T>*>(lanes[i]);
        }
        for (void* const lane : lanes) {
          if (lane == nullptr) continue;
          auto& taker = *static_cast<Exchange<T>*>(lane);
          taker.value = given[taker.source].value;
        }
      },
      where);
  return own.value;
}

template <class T>
void require_aligned(const T* address) {
  if (reinterpret_cast<std::uintptr_t>(address) % alignof(T) != 0) fault("misaligned access");
}

template <class T>
T load(const T* address) {
  require_aligned(address);
  return *address;
}

template <class T>
void store(T* address, const T& value) {
  require_aligned(address);
  *address = value;
}

}  // namespace ridgebench::emulator

inline void __syncthreads(const std::source_location& where = std::source_location::current()) {
  ridgebench::emulator::Block::current().barrier(0, 0, "__syncthreads", where);
}

inline void __syncwarp(unsigned mask = ridgebench::emulator::kWholeWarp,
                       const std::source_location& where = std::source_location::current()) {
  char present = 0;
  ridgebench::emulator::Block::current().with_warp(
      mask, "__syncwarp", &present, [](const ridgebench::emulator::Lanes&) {}, where);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              const std::source_location& where = std::source_location::current()) {
  const unsigned lane = ridgebench::emulator::Block::thread().lane;
  const auto segment = static_cast<unsigned>(width);
  const unsigned from = lane / segment * segment + static_cast<unsigned>(source) % segment;
  return ridgebench::emulator::shuffle(mask, "__shfl_sync", value, from, where);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  const std::source_location& where = std::source_location::current()) {
  const unsigned lane = ridgebench::emulator::Block::thread().lane;
  const auto segment = static_cast<unsigned>(width);
  const unsigned from = lane ^ static_cast<unsigned>(lane_mask);
  // A lane reaches earlier groups of `width` lanes, but not later ones.
  const bool reached = from / segment <= lane / segment;
  return ridgebench::emulator::shuffle(mask, "__shfl_xor_sync", value, reached ? from : lane,
                                       where);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   const std::source_location& where = std::source_location::current()) {
  const unsigned lane = ridgebench::emulator::Block::thread().lane;
  const auto segment = static_cast<unsigned>(width);
  const bool reached = lane % segment + delta < segment;
  return ridgebench::emulator::shuffle(mask, "__shfl_down_sync", value,
                                       reached ? lane + delta : lane, where);
}

// Only one thread runs at a time.
template <class T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  const T old = ridgebench::emulator::load(address);
  *address = old + value;
  return old;
}
inline void __threadfence() {}
inline void __threadfence_block() {}

template <class T>
T __ldg(const T* address) {
  return ridgebench::emulator::load(address);
}
template <class T>
T __ldcg(const T* address) {
  return ridgebench::emulator::load(address);
}
template <class T>
T __ldcs(const T* address) {
  return ridgebench::emulator::load(address);
}
template <class T>
void __stcs(T* address, std::type_identity_t<T> value) {
  ridgebench::emulator::store(address, value);
}
template <class T>
void __stcg(T* address, std::type_identity_t<T> value) {
  ridgebench::emulator::store(address, value);
}

inline std::size_t __cvta_generic_to_shared(const void* pointer) {
  return ridgebench::emulator::Block::current().shared().address(pointer);
}

[[noreturn]] inline void __trap() { ridgebench::emulator::fault("__trap"); }

// Byte i of the result is byte (selector >> 4 i) % 8 of y and x, x in the low word.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t both = std::uint64_t{y} << 32U | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned byte = selector >> 4U * i & 7U;
    result |= static_cast<unsigned>(both >> 8U * byte & 0xffU) << 8U * i;
  }
  return result;
}

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }

// Double is exact before the last rounding, because a product of two fp16 numbers has 22 bits; the
// second rounding does not change the result of the first.
inline __half __hfma(__half x, __half y, __half z) {
  return __double2half(std::fma(static_cast<double>(__half2float(x)),
                                static_cast<double>(__half2float(y)),
                                static_cast<double>(__half2float(z))));
}
inline __half2 __hfma2(__half2 x, __half2 y, __half2 z) {
  return __halves2half2(__hfma(__low2half(x), __low2half(y), __low2half(z)),
                        __hfma(__high2half(x), __high2half(y), __high2half(z)));
}
inline __nv_bfloat16 __hfma(__nv_bfloat16 x, __nv_bfloat16 y, __nv_bfloat16 z) {
  return __double2bfloat16(std::fma(static_cast<double>(__bfloat162float(x)),
                                    static_cast<double>(__bfloat162float(y)),
                                    static_cast<double>(__bfloat162float(z))));
}
inline __nv_bfloat162 __hfma2(__nv_bfloat162 x, __nv_bfloat162 y, __nv_bfloat162 z) {
  return __halves2bfloat162(__hfma(__low2bfloat16(x), __low2bfloat16(y), __low2bfloat16(z)),
                            __hfma(__high2bfloat16(x), __high2bfloat16(y), __high2bfloat16(z)));
}

using std::max;
using std::min;
