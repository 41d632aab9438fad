// Features of the processor by CPUID. GCC 11 and clang 16 have no name in __builtin_cpu_supports
// for some of the bits. Source: Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 2, CPUID.
#pragma once

#if defined(__x86_64__)

#include <cpuid.h>

namespace ridgebench::cpu {

struct Cpuid {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

// Bits of the words that they name.
inline constexpr unsigned kMovbe = 22;      // leaf 1, ECX
inline constexpr unsigned kF16c = 29;       // leaf 1, ECX
inline constexpr unsigned kLzcnt = 5;       // leaf 0x80000001, ECX
inline constexpr unsigned kAmxBf16 = 22;    // leaf 7, EDX
inline constexpr unsigned kAvx512Bf16 = 5;  // leaf 7, subleaf 1, EAX

// All zero for a leaf that the processor does not have.
inline Cpuid cpuid(unsigned leaf, unsigned subleaf) {
  Cpuid is;
  __get_cpuid_count(leaf, subleaf, &is.eax, &is.ebx, &is.ecx, &is.edx);
  return is;
}

constexpr bool has_bit(unsigned word, unsigned bit) { return ((word >> bit) & 1U) != 0; }

}  // namespace ridgebench::cpu

#endif
