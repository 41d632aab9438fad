// Copies with one mistake each, which the counts of sectors must show.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/emulator/core/watched_memory.hpp"
#include "tests/emulator/emulator.hpp"

namespace ridgebench::emulator {
namespace {

constexpr int kRow = 64;  // floats of a block, and its threads: 8 sectors
constexpr int kBlocks = 3;
constexpr int kElements = kBlocks * kRow;

enum class Copy {
  right,
  in_packs,
  reads_the_next_element,
  reads_the_element_before,
  reads_its_row_twice,  // and finds it in a first-level cache
  reads_the_first_row_again,
  leaves_out_the_first_row,
  reads_the_output,
  strides,  // each block takes a part of every sector
  writes_twice,
  writes_the_first_element_again,
  writes_beyond_the_end
};

template <Copy kCopy>
__global__ void copy(const float* x, float* y) {
  const auto thread = static_cast<int>(threadIdx.x);
  const auto row = static_cast<int>(blockIdx.x);
  if (kCopy == Copy::in_packs) {
    const int pack = row * kRow / 4 + thread;
    const auto* const packs = reinterpret_cast<const float4*>(x);
    if (thread < kRow / 4) reinterpret_cast<float4*>(y)[pack] = packs[pack];
    return;
  }
  const int i = kCopy == Copy::strides ? thread * kBlocks + row : row * kRow + thread;
  float value = kCopy == Copy::leaves_out_the_first_row && row == 0 ? 0 : x[i];
  if (kCopy == Copy::reads_the_next_element && thread == kRow - 1) value += x[i + 1];
  if (kCopy == Copy::reads_the_element_before && thread == 0) value += x[i - 1];
  if (kCopy == Copy::reads_the_first_row_again) value += x[thread];
  if (kCopy == Copy::reads_the_output) value += y[i];
  __syncthreads();
  if (kCopy == Copy::reads_its_row_twice) value += x[i ^ 1];
  y[i] = value;
  __syncthreads();
  if (kCopy == Copy::writes_twice) y[i] = value + 1;
  if (kCopy == Copy::writes_the_first_element_again && thread == 1) y[0] = value;
  if (kCopy == Copy::writes_beyond_the_end && i == kElements - 1) y[kElements] = value;
}

struct Counts {
  // Read, read by blocks, written, written by blocks, rewritten, outside.
  std::array<std::int64_t, 6> x, y;
};

std::array<std::int64_t, 6> counts_of(const WatchedMemory& memory) {
  const SectorCounts& c = memory.counts();
  return {c.read, c.read_by_blocks, c.written, c.written_by_blocks, c.rewritten, c.outside};
}

template <Copy kCopy>
void expect_counts(const Counts& expected, int launches = 1) {
  SCOPED_TRACE(static_cast<int>(kCopy));
  const WatchedMemory x(kElements * sizeof(float));
  const WatchedMemory y(kElements * sizeof(float));
  auto* const in = reinterpret_cast<float*>(x.data());
  auto* const out = reinterpret_cast<float*>(y.data());
  for (int i = 0; i < kElements; ++i) in[i] = static_cast<float>(i);
  for (int i = 0; i < launches; ++i) copy<kCopy><<<kBlocks, kRow>>>(in, out);
  EXPECT_EQ(counts_of(x), expected.x);
  EXPECT_EQ(counts_of(y), expected.y);
  if (kCopy == Copy::right) {
    EXPECT_TRUE(std::equal(in, in + kElements, out));
  }
}

TEST(WatchedMemory, CountsWhatKernelsReadAndWrite) {
  if (!kWatchesMemory) GTEST_SKIP() << kNotWatched;
  constexpr std::array<std::int64_t, 6> read_once{24, 24, 0, 0, 0, 0};
  constexpr std::array<std::int64_t, 6> written_once{0, 0, 24, 24, 0, 0};
  expect_counts<Copy::right>({read_once, written_once});
  expect_counts<Copy::in_packs>({read_once, written_once});
  expect_counts<Copy::reads_its_row_twice>({read_once, written_once});
  // A sector of another row, or outside.
  expect_counts<Copy::reads_the_next_element>({{24, 26, 0, 0, 0, 1}, written_once});
  expect_counts<Copy::reads_the_element_before>({{24, 26, 0, 0, 0, 1}, written_once});
  expect_counts<Copy::writes_beyond_the_end>({read_once, {0, 0, 24, 24, 0, 1}});
  expect_counts<Copy::reads_the_first_row_again>({{24, 40, 0, 0, 0, 0}, written_once});
  expect_counts<Copy::leaves_out_the_first_row>({{16, 16, 0, 0, 0, 0}, written_once});
  expect_counts<Copy::reads_the_output>({read_once, {24, 24, 24, 24, 0, 0}});
  expect_counts<Copy::strides>({{24, 72, 0, 0, 0, 0}, {0, 0, 24, 72, 0, 0}});
  expect_counts<Copy::writes_twice>({read_once, {0, 0, 24, 24, kElements, 0}});
  expect_counts<Copy::writes_the_first_element_again>({read_once, {0, 0, 24, 26, kBlocks, 0}});
  // The blocks of a later launch are others.
  expect_counts<Copy::right>({{24, 48, 0, 0, 0, 0}, {0, 0, 24, 48, kElements, 0}}, 2);
}

__global__ void read_one(const float* x, float* y) { *y = *x; }

TEST(WatchedMemoryDeathTest, AnAccessElsewhereStillEndsTheProgram) {
  if (!kWatchesMemory) GTEST_SKIP() << kNotWatched;
  const WatchedMemory y(sizeof(float));
  auto* const out = reinterpret_cast<float*>(y.data());
  EXPECT_DEATH((read_one<<<1, 1>>>(nullptr, out)), "");
}

}  // namespace
}  // namespace ridgebench::emulator
