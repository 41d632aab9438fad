// How exact sums of fp8 products are that stay in the tensor cores of compute capability 8.9 and
// 9.0: those sums keep 13 fraction bits. Sources: SageAttention2, arXiv 2411.10958, section 3.3;
// DeepSeek-V3, arXiv 2412.19437, section 3.3.2. The error of a sum is taken as in
// harness/measure/verifying/verification.cpp, 8 units times the square root of the number of
// additions, with one addition per 32 of k. The hardware truncates, so a unit here is twice that of
// rounding. cuBLAS and all techniques here err by up to 0.8 of this on an H100 at k = 8192 and at k
// = 32784.
#pragma once

namespace ridgebench {

inline constexpr int kFp8SumBits = 13;
// Relative to the norm of the reference, up to k = 32768.
inline constexpr double kFp8SumError = 8 * 0x1p-13 * 32;
// The same where sums move to fp32 every 128 of k, after four additions.
inline constexpr double kFp8PromotedError = 8 * 0x1p-13 * 2;

}  // namespace ridgebench
