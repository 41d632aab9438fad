// Where the sums of wgmma lie in the registers of a warpgroup. Source: PTX ISA, "Register fragments
// for wgmma.mma_async.m64nNk16" and its siblings: with warp w of the warpgroup and lane l, sum i of
// a thread is that of row 16 w + l / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (l % 4) + i % 2.
#pragma once

namespace ridgebench::cuda {

// `thread` counts within the warpgroup.
constexpr int accumulator_row(int thread, int i) {
  return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}
constexpr int accumulator_column(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

}  // namespace ridgebench::cuda
