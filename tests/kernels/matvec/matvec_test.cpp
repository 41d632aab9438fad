#include <cmath>

#include "tests/support/host_run.hpp"

namespace ridgebench {
namespace {

Shape matrix_of(std::int64_t m, std::int64_t n) { return Shape({{"m", m}, {"n", n}}); }

TEST(Matvec, EveryHostTechniqueIsRightAtAwkwardShapesAndAlignments) {
  for_each_host_technique("matvec", [](const Implementation& implementation) {
    for (const std::int64_t m : {1, 2, 17}) {
      for (const std::int64_t n : {1, 15, 17, 63, 64, 65, 257, 997}) {
        expect_right(implementation, matrix_of(m, n), m % 2, true);
      }
    }
  });
}

TEST(Matvec, NanInARowStaysInThatRow) {
  for_each_host_technique("matvec", [](const Implementation& implementation) {
    constexpr std::int64_t kRows = 7;
    constexpr std::int64_t kColumns = 131;
    for (const std::int64_t column : {0, 64, 130}) {
      HostRun run(implementation, matrix_of(kRows, kColumns));
      run.fill(Fill::integers);
      run.array(0).set_nan(3 * kColumns + column);
      if (!run.launch()) return;
      for (std::int64_t i = 0; i < kRows; ++i) {
        EXPECT_EQ(std::isnan(run.output().view()[i]), i == 3) << i << " " << column;
      }
    }
  });
}

TEST(Matvec, NanInTheVectorReachesEveryRow) {
  for_each_host_technique("matvec", [](const Implementation& implementation) {
    HostRun run(implementation, matrix_of(5, 131));
    run.fill(Fill::integers);
    run.array(1).set_nan(130);
    if (!run.launch()) return;
    for (std::int64_t i = 0; i < 5; ++i) EXPECT_TRUE(std::isnan(run.output().view()[i])) << i;
  });
}

}  // namespace
}  // namespace ridgebench
