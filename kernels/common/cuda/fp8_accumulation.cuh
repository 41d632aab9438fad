// What the fp8 tensor cores of compute capability 8.9 and 9.0 lose: their sums keep 13 bits behind
// the point. Sources: SageAttention2, arXiv 2411.10958, section 3.3; DeepSeek-V3, arXiv 2412.19437,
// section 3.3.2. As harness/measure/verification.cpp does for other accumulators, the error of a sum is taken as
// 8 units times the square root of the number of additions, one per 32 of k; but what does not fit
// is cut off, which errs by up to a whole unit where rounding errs by half of one. On an H100
// cuBLAS and all techniques here err by up to 0.8 of the tolerance at k = 8192 and at k = 32784.
#pragma once

namespace ridgebench::cuda {

// Relative to the norm of the reference, up to k = 32768.
inline constexpr double kFp8SumError = 8 * 0x1p-13 * 32;
// Likewise where the sums move to fp32 every 128 of k: four additions each.
inline constexpr double kFp8PromotedError = 8 * 0x1p-13 * 2;

}  // namespace ridgebench::cuda
