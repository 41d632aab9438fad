// The grouped product: its tokens, what it counts, which shapes it refuses, its reference, and the
// techniques of the host.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/common/error.hpp"
#include "kernels/common/reference/rows.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/matmul/token_groups.hpp"
#include "tests/support/awkward_shapes.hpp"
#include "tests/support/host_run.hpp"

namespace ridgebench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Shape groups(const std::string& text) { return parse_shape(text, matmul_grouped_operation()); }

TEST(MatmulGrouped, TokensAreEvenSkewedOrMissing) {
  EXPECT_THAT(token_starts(groups("m:12/n:1/k:1/g:4")), ElementsAre(0, 3, 6, 9, 12));
  EXPECT_THAT(token_starts(groups("m:10/n:1/k:1/g:4")), ElementsAre(0, 3, 5, 8, 10));
  // 1, 1/2, 1/3 of a total of 11/6.
  EXPECT_THAT(token_starts(groups("m:11/n:1/k:1/g:3/skew:1")), ElementsAre(0, 6, 9, 11));
  EXPECT_THAT(token_starts(groups("m:12/n:1/k:1/g:4/empty:2")), ElementsAre(0, 6, 6, 12, 12));
  EXPECT_THAT(token_starts(groups("m:11/n:1/k:1/g:6/skew:1/empty:3")),
              ElementsAre(0, 6, 6, 9, 9, 11, 11));
  EXPECT_THAT(token_starts(groups("m:2/n:1/k:1/g:4")), ElementsAre(0, 1, 1, 2, 2));
  EXPECT_THAT(token_starts(groups("m:5/n:1/k:1/g:3/empty:2")), ElementsAre(0, 5, 5, 5));
}

TEST(MatmulGrouped, EveryTokenIsInOneGroup) {
  for (const std::int64_t g : {1, 2, 7, 64, 1000}) {
    for (const std::int64_t empty : {std::int64_t{0}, g / 3, g - 1}) {
      for (const double skew : {0.0, 0.5, 1.0, 8.0}) {
        const Shape shape({{"m", 4099}, {"n", 1}, {"k", 1}, {"g", g}}, std::nullopt,
                          {{"skew", skew}, {"empty", static_cast<double>(empty)}});
        std::int64_t tokens = 0;
        std::int64_t last = -1;
        for (const TokenGroup& group : busy_groups(shape)) {
          EXPECT_EQ(group.first, tokens);
          EXPECT_GT(group.index, last);
          EXPECT_GT(group.tokens, 0);
          tokens += group.tokens;
          last = group.index;
        }
        EXPECT_EQ(tokens, 4099) << shape.text();
        EXPECT_LE(std::ssize(busy_groups(shape)), g - empty);
      }
    }
  }
}

TEST(MatmulGrouped, CountsTheTokensAndMatricesThatAreThere) {
  const Operation grouped = matmul_grouped_operation();
  const Shape even = groups("m:12/n:5/k:7/g:4");
  EXPECT_EQ(even.text(), "m:12/n:5/k:7/g:4/skew:0/empty:0");
  EXPECT_EQ(grouped.flops(even), 2 * 12 * 5 * 7);
  EXPECT_EQ(bytes(grouped, even, Format::bf16), 2 * (12 * 7 + 4 * 5 * 7 + 12 * 5));
  const Shape idle = groups("m:12/n:5/k:7/g:4/empty:3");
  EXPECT_EQ(bytes(grouped, idle, Format::bf16), 2 * (12 * 7 + 5 * 7 + 12 * 5));
  EXPECT_EQ(written_fraction(grouped, idle, Format::bf16), 60.0 / (84 + 35 + 60));
  EXPECT_EQ(grouped.operands(idle, Format::bf16)[1].elements, 4 * 5 * 7) << "in memory";
}

TEST(MatmulGrouped, RefusesWhatIsNoDistribution) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      return groups(text).text();
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(message("m:8/n:8/k:8/g:4/empty:4"),
              HasSubstr("empty is 4; allowed: a whole number from 0 to g - 1, which is 3"));
  EXPECT_THAT(message("m:8/n:8/k:8/g:4/empty:0.5"), HasSubstr("empty is 0.5; allowed"));
  EXPECT_THAT(message("m:8/n:8/k:8/g:4/empty:-1"), HasSubstr("empty is -1; allowed"));
  EXPECT_THAT(message("m:8/n:8/k:8/g:4/skew:-1"), HasSubstr("skew is -1; allowed: 0 to 8"));
  EXPECT_THAT(message("m:8/n:8/k:8/g:4/skew:9"), HasSubstr("skew is 9; allowed: 0 to 8"));
  EXPECT_THAT(message("m:8/n:8/k:8/g:1e6"), HasSubstr("g is 1000000; allowed: up to 65536"));
  EXPECT_THAT(message("m:8/n:8/k:8/g:4/layout:nn"), HasSubstr("unknown dimension 'layout'"));
}

TEST(MatmulGrouped, TheReferenceTakesTheMatrixOfTheGroup) {
  const Operation grouped = matmul_grouped_operation();
  const RowsReference* const rows_of = rows_reference_of(grouped);
  ASSERT_NE(rows_of, nullptr);
  for (const Shape& s : awkward_shapes(grouped)) {
    SCOPED_TRACE(s.text());
    std::vector<float> a(static_cast<std::size_t>(s["m"] * s["k"]));
    std::vector<float> b(static_cast<std::size_t>(s["g"] * s["n"] * s["k"]));
    fill_random(a.data(), std::ssize(a), Format::fp32, Fill::normal, 1, 0, 1);
    fill_random(b.data(), std::ssize(b), Format::fp32, Fill::normal, 1, 1, 1);
    const std::vector<View> inputs{{a.data(), Format::fp32}, {b.data(), Format::fp32}};
    std::vector<std::int64_t> rows;
    for (std::int64_t row = s["m"] > 2 ? 1 : 0; row < s["m"]; row += 2) rows.push_back(row);
    std::vector<Expected> found(rows.size() * static_cast<std::size_t>(s["n"]));
    rows_of->compute(s, rows, {}, inputs, found);
    const std::vector<std::int64_t> starts = token_starts(s);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::int64_t row = rows[at / static_cast<std::size_t>(s["n"])];
      const auto j = static_cast<std::int64_t>(at) % s["n"];
      std::int64_t group = 0;
      while (starts[static_cast<std::size_t>(group) + 1] <= row) ++group;
      double sum = 0;
      for (std::int64_t p = 0; p < s["k"]; ++p) {
        sum += inputs[0][row * s["k"] + p] * inputs[1][(group * s["n"] + j) * s["k"] + p];
      }
      ASSERT_NEAR(found[at].value, sum, 1e-12 * (1 + found[at].norm)) << row << ' ' << j;
    }
  }
}

TEST(MatmulGrouped, EveryHostTechniqueIsRightAndExactOnIntegers) {
  for_each_host_technique("matmul_grouped", [](const Implementation& implementation) {
    for (const Shape& shape : awkward_shapes(*implementation.operation)) {
      expect_right(implementation, shape, 1, true);
    }
    expect_right(implementation, groups("m:600/n:300/k:520/g:3/skew:1"), 0, true);
  });
}

// A kernel that multiplies every token by the matrix of the next group, or of the first one.
TEST(MatmulGrouped, TheMatrixOfAnotherGroupIsFound) {
  for_each_host_technique("matmul_grouped", [](const Implementation& implementation) {
    const Shape shape = groups("m:60/n:20/k:30/g:4/skew:1/empty:1");
    for (const std::int64_t shift : {1, 2}) {
      HostRun run(implementation, shape);
      run.fill(Fill::normal);
      ASSERT_TRUE(run.launch());
      EXPECT_TRUE(run.verify().passed());
      // The reference sees the matrices of groups moved by `shift`.
      const auto width = static_cast<std::size_t>(info(implementation.format.b).storage_bytes);
      auto* const first = static_cast<std::byte*>(run.array(1).data());
      std::rotate(first, first + static_cast<std::size_t>(shift * 20 * 30) * width,
                  first + static_cast<std::size_t>(4 * 20 * 30) * width);
      EXPECT_FALSE(run.verify().passed());
    }
  });
}

}  // namespace
}  // namespace ridgebench
