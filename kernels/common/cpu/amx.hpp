// Intel AMX: eight tile registers of 16 rows x 64 bytes and the product of two tiles of bf16 pairs.
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2 (LDTILECFG,
// TILELOADD, TDPBF16PS) and volume 1, chapter 18; permission: Linux, Documentation/x86/xstate.rst.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "kernels/common/cpu/cpuid.hpp"
#include "kernels/common/format.hpp"
#include "kernels/common/machine.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench::cpu {

inline constexpr std::int64_t kTileRows = 16;
inline constexpr std::int64_t kTileWords = 16;  // words of 4 bytes in a row
inline constexpr std::int64_t kTileRowBytes = 64;

// True if the processor has AMX bf16 and the kernel lets this process use it. The permission holds
// for all threads; each thread must still configure its tiles.
inline bool amx_bf16_available() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return has_bit(cpuid(7, 0).edx, kAmxBf16) &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

// Technique::supports of what needs AMX.
inline std::optional<std::string> supports_amx(const Machine& /*machine*/, const Shape& /*shape*/,
                                               FormatPair /*format*/) {
  if (amx_bf16_available()) return std::nullopt;
  return "this processor has no AMX bf16";
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

// The tile registers of this thread. Inline assembly, because GCC 12's intrinsics declare too few
// of the bytes that they read, and the compiler then drops stores to them.
struct AmxTiles {
  static inline thread_local AmxConfiguration before;

  // Configures all eight registers at full size; every thread calls it before the other functions.
  // end() restores the former configuration, on which a library may rely.
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
  void tilezero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(Tile));
  }
  // Rows `stride` bytes apart.
  template <int Tile>
  void tileloadd(const void* from, std::int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(Tile) : "memory");
  }
  template <int Tile>
  void tilestored(void* to, std::int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(Tile) : "memory");
  }
  // c[i][j] += sum over word p: a[i][p] * b[p][j], words being pairs of bf16.
  template <int C, int A, int B>
  void tdpbf16ps() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }
};

#endif

// A 32 x 32 tile of C in four AMX tiles, so that each tile loaded of A or B serves two products.
// `Tiles` is AmxTiles, or a test's emulation of it.
template <class Tiles>
struct AmxAccumulators {
  static constexpr std::int64_t kRows = 2 * kTileRows;
  static constexpr std::int64_t kColumns = 2 * kTileWords;
  static constexpr std::int64_t kRowBytes = kColumns * 4;  // of b and c

  void zero() {
    tiles.template tilezero<0>();
    tiles.template tilezero<1>();
    tiles.template tilezero<2>();
    tiles.template tilezero<3>();
  }
  // c[kRows][kColumns]
  void load(const float* c) {
    tiles.template tileloadd<0>(c, kRowBytes);
    tiles.template tileloadd<1>(c + kRight, kRowBytes);
    tiles.template tileloadd<2>(c + kBelow, kRowBytes);
    tiles.template tileloadd<3>(c + kBelow + kRight, kRowBytes);
  }
  void store(float* c) {
    tiles.template tilestored<0>(c, kRowBytes);
    tiles.template tilestored<1>(c + kRight, kRowBytes);
    tiles.template tilestored<2>(c + kBelow, kRowBytes);
    tiles.template tilestored<3>(c + kBelow + kRight, kRowBytes);
  }
  // a: kRows rows, lda words apart, of kTileWords words; b: kTileWords rows of kColumns words.
  void load_operands(const std::uint32_t* a, std::int64_t lda, const std::uint32_t* b) {
    tiles.template tileloadd<4>(a, lda * 4);
    tiles.template tileloadd<5>(a + kTileRows * lda, lda * 4);
    tiles.template tileloadd<6>(b, kRowBytes);
    tiles.template tileloadd<7>(b + kRight, kRowBytes);
  }
  void multiply_add() {
    tiles.template tdpbf16ps<0, 4, 6>();
    tiles.template tdpbf16ps<1, 4, 7>();
    tiles.template tdpbf16ps<2, 5, 6>();
    tiles.template tdpbf16ps<3, 5, 7>();
  }

  Tiles tiles;

 private:
  static constexpr std::int64_t kRight = kTileWords;
  static constexpr std::int64_t kBelow = kTileRows * kColumns;
};

// c[32][32] = times A[32][32] B[32][32]^T, with loads before and stores after all products.
template <class Tiles>
void repeat_amx_product(std::int64_t times, const Bf16* a, const Bf16* b, float* c) {
  using Accumulators = AmxAccumulators<Tiles>;
  alignas(64) std::uint32_t words_of_a[Accumulators::kRows * kTileWords];
  alignas(64) std::uint32_t words_of_b[kTileWords * Accumulators::kColumns];  // [word][column]
  std::memcpy(words_of_a, a, sizeof words_of_a);
  for (std::int64_t j = 0; j < Accumulators::kColumns; ++j) {
    for (std::int64_t p = 0; p < kTileWords; ++p) {
      std::memcpy(&words_of_b[p * Accumulators::kColumns + j], b + 2 * (j * kTileWords + p), 4);
    }
  }
  Accumulators accumulators;
  accumulators.zero();
  accumulators.load_operands(words_of_a, kTileWords, words_of_b);
  for (std::int64_t i = 0; i < times; ++i) accumulators.multiply_add();
  accumulators.store(c);
}

}  // namespace ridgebench::cpu
