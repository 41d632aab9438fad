#include <cmath>

#include "tests/support/elementwise.hpp"

namespace ridgebench {
namespace {

TEST(Relu, EveryHostTechniqueIsRightAtAwkwardSizesAndAlignments) {
  expect_right_at_awkward_sizes_and_alignments("relu", true);
}

TEST(Relu, NanStaysNanAndOnlyThere) { expect_nan_stays_nan_and_only_there("relu"); }

template <class T>
void expect_all_code_points(const Implementation& implementation) {
  constexpr std::int64_t kCodes = std::int64_t{1} << (8 * sizeof(T));
  HostRun run(implementation, vector_of(kCodes));
  auto* x = static_cast<T*>(run.array(0).data());
  for (std::int64_t i = 0; i < kCodes; ++i) x[i] = T{static_cast<decltype(T::bits)>(i)};
  ASSERT_TRUE(run.launch());
  for (std::int64_t i = 0; i < kCodes; ++i) {
    const float in = decode(x[i]);
    const double out = run.output().view()[i];
    if (std::isnan(in)) {
      ASSERT_TRUE(std::isnan(out)) << i;
    } else {
      ASSERT_EQ(out, in < 0 ? 0 : in) << i;
    }
  }
}

// Subnormals, both zeros, the largest numbers, infinities: the bit trick must know them all.
TEST(Relu, StreamingIsRightForEveryCodePoint) {
  for_each_host_technique("relu", [](const Implementation& implementation) {
    if (implementation.technique.name != "streaming") return;
    const Format format = implementation.format.a;
    if (format == Format::fp16) expect_all_code_points<Fp16>(implementation);
    if (format == Format::bf16) expect_all_code_points<Bf16>(implementation);
    if (format == Format::fp8_e4m3) expect_all_code_points<Fp8E4m3>(implementation);
    if (format == Format::fp8_e5m2) expect_all_code_points<Fp8E5m2>(implementation);
  });
}

}  // namespace
}  // namespace ridgebench
