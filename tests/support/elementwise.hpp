// What every elementwise operation on a vector has to stand.
#pragma once

#include <cmath>
#include <string_view>

#include "tests/support/host_run.hpp"

namespace ridgebench {

inline Shape vector_of(std::int64_t n) { return Shape({{"n", n}}); }

inline void expect_right_at_awkward_sizes_and_alignments(std::string_view operation,
                                                         bool integers_exact) {
  for_each_host_technique(operation, [=](const Implementation& implementation) {
    for (const std::int64_t n : kAwkwardSizes) {
      for (const std::int64_t offset : {0, 1}) {
        expect_right(implementation, vector_of(n), offset, integers_exact);
      }
    }
    expect_right(implementation, vector_of(kManyBlocks), 1, integers_exact);
  });
}

inline void expect_nan_stays_nan_and_only_there(std::string_view operation) {
  for_each_host_technique(operation, [](const Implementation& implementation) {
    if (implementation.technique.origin != Origin::hand) return;  // a library makes its own choice
    constexpr std::int64_t kElements = 1000;
    for (const std::int64_t at : {0, 5, 500, 999}) {
      HostRun run(implementation, vector_of(kElements), 3);
      run.fill(Fill::normal);
      run.array(0).set_nan(at);
      ASSERT_TRUE(run.launch());
      for (std::int64_t i = 0; i < kElements; ++i) {
        ASSERT_EQ(std::isnan(run.output().view()[i]), i == at) << i;
      }
    }
  });
}

}  // namespace ridgebench
