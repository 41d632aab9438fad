// Intel AMX: eight tile registers of 16 rows x 64 bytes and the product of two tiles of bf16 pairs.
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2 (LDTILECFG,
// TILELOADD, TDPBF16PS) and volume 1, chapter 18; permission: Linux, Documentation/x86/xstate.rst.
#pragma once

#include <array>
#include <cstdint>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "kernels/common/error.hpp"

namespace ridgebench::cpu {

inline constexpr std::int64_t kTileRows = 16;
inline constexpr std::int64_t kTileWords = 16;  // of 4 bytes, in a row
inline constexpr std::int64_t kTileRowBytes = 64;

// True if the processor has AMX bf16 and the kernel lets this process use it. The permission holds
// for all threads; each must still configure its tiles.
inline bool amx_bf16_available() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return __builtin_cpu_supports("amx-bf16") != 0 &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

inline void require_amx_bf16() {
  if (!amx_bf16_available()) throw Unsupported("this processor has no AMX bf16");
}

#if defined(__x86_64__)

// Palette 1: bytes per row and rows of each register.
struct alignas(64) AmxConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{};
  std::array<std::uint8_t, 16> rows{};
};
static_assert(sizeof(AmxConfiguration) == 64);

// The tile registers of this thread. Instructions by name: the intrinsics of GCC 12 declare too few
// of the bytes that they read, and the compiler then drops stores to them.
struct AmxTiles {
  static inline thread_local AmxConfiguration before;

  // All eight registers at full size; to be called by every thread before the others. What was
  // configured comes back at the end: it may be a library's, which relies on it.
  static void begin() {
    asm volatile("sttilecfg %0" : "=m"(before));
    AmxConfiguration configuration;
    for (std::size_t i = 0; i < 8; ++i) {
      configuration.row_bytes[i] = kTileRowBytes;
      configuration.rows[i] = kTileRows;
    }
    asm volatile("ldtilecfg %0" ::"m"(configuration));
  }
  static void end() {
    if (before.palette == 0) {
      asm volatile("tilerelease");
    } else {
      asm volatile("ldtilecfg %0" ::"m"(before));
    }
  }

  template <int Tile>
  void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(Tile));
  }
  // Rows `stride` bytes apart.
  template <int Tile>
  void load(const void* from, std::int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(Tile) : "memory");
  }
  template <int Tile>
  void store(void* to, std::int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(Tile) : "memory");
  }
  // c[i][j] += sum over word p: a[i][p] * b[p][j], words being pairs of bf16.
  template <int C, int A, int B>
  void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }
};

#endif

}  // namespace ridgebench::cpu
