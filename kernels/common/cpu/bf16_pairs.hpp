// AVX512_BF16's VDPBF16PS: each lane adds the products of two pairs of bf16 to its fp32 sum.
// Denormal inputs and results count as zero. To be included inside a region of target_begin.hpp,
// after pack.hpp; see there.
#pragma once

#ifndef RIDGEBENCH_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

namespace ridgebench::cpu {

// A word, two bf16, in each lane.
using Words [[gnu::vector_size(sizeof(Vector))]] = std::uint32_t;

[[gnu::always_inline]] inline Words in_every_lane(std::uint32_t word) { return word - Words{}; }

// Not the intrinsic: its types and target would be needed by everything that inlines this.
[[gnu::always_inline]] inline void multiply_add_pairs(Vector& sum, Words a, Vector b) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(b), "v"(a));
}

[[gnu::always_inline]] inline void require_bf16_pairs() {
  if (!__builtin_cpu_supports("avx512bf16")) {
    throw Unsupported("this processor has no AVX512_BF16");
  }
}

}  // namespace ridgebench::cpu
