#include <cmath>

#include "tests/support/host_run.hpp"

namespace ridgebench {
namespace {

Shape vectors_of(std::int64_t n) { return Shape({{"n", n}}); }

TEST(Dot, EveryHostTechniqueIsRightAtAwkwardSizesAndAlignments) {
  for_each_host_technique("dot", [](const Implementation& implementation) {
    for (const std::int64_t n : kAwkwardSizes) {
      for (const std::int64_t offset : {0, 1}) {
        expect_right(implementation, vectors_of(n), offset, true);
      }
    }
    expect_right(implementation, vectors_of(kManyBlocks), 1, true);
  });
}

TEST(Dot, NanAnywhereMakesTheSumNan) {
  for_each_host_technique("dot", [](const Implementation& implementation) {
    constexpr std::int64_t kElements = 1000;
    for (const std::size_t operand : {0U, 1U}) {
      for (const std::int64_t at : {0, 499, 999}) {
        HostRun run(implementation, vectors_of(kElements));
        run.fill(Fill::integers);
        run.array(operand).set_nan(at);
        if (!run.launch()) return;
        EXPECT_TRUE(std::isnan(run.output().view()[0])) << at;
      }
    }
  });
}

TEST(Dot, SumIsTheSameEveryTimeUnlessDeclaredOtherwise) {
  for_each_host_technique("dot", [](const Implementation& implementation) {
    if (implementation.technique.order_dependent) return;
    HostRun run(implementation, vectors_of(100003));
    run.fill(Fill::normal);
    if (!run.launch()) return;
    const double first = run.output().view()[0];
    for (int repeat = 0; repeat < 5; ++repeat) {
      ASSERT_TRUE(run.launch());
      EXPECT_EQ(run.output().view()[0], first);
    }
  });
}

}  // namespace
}  // namespace ridgebench
