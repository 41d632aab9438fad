// A kernel that computes one element wrong must be found in 99 of 100 processes. A process differs
// from another in its seed, which chooses the rows and signs of the check.
#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "harness/device/cpu/device.hpp"
#include "harness/measure/verifying/inputs.hpp"
#include "harness/measure/verifying/output_check.hpp"
#include "kernels/common/ceil_div.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

constexpr int kProcesses = 100;

// Sizes that no vector or tile divides.
std::optional<Shape> small_shape(const Operation& operation) {
  constexpr std::array<std::int64_t, 3> kSizes{61, 203, 67};
  const std::size_t count = operation.dimensions.size();
  // Ceilings of two dimensions repeat their work, too often for such sizes.
  if (count > kSizes.size() || (operation.ceiling && count > 1)) return std::nullopt;
  std::vector<Shape::Dimension> dimensions;
  for (std::size_t i = 0; i < count; ++i) {
    dimensions.emplace_back(operation.dimensions[i], count == 1 ? 3001 : kSizes.at(i));
  }
  // Numbers that share an element of memory lie along the last dimension.
  const int together = info(operation.formats.front().a).numbers();
  dimensions.back().second = round_up(dimensions.back().second, together);
  return Shape(std::move(dimensions),
               operation.has_layout ? std::optional(Layout::nt) : std::nullopt,
               operation.attributes);
}

class OneWrongElement : public RegistryTest {
 protected:
  OneWrongElement() = default;
  ~OneWrongElement() override { omp_set_num_threads(threads_); }

  // Calls `check` with every technique of the host in every format, after a launch.
  void for_each(const std::function<void(const Case&, const BufferSet&)>& check) {
    for (const auto& i : Registry::instance().implementations()) {
      const std::optional<Shape> shape = small_shape(*i->operation);
      if (i->backend != Backend::cpu || !shape || i->unsupported(device_.machine(), *shape)) {
        continue;
      }
      const Case c{.operation = i->operation,
                   .technique = i->technique,
                   .implementation = i.get(),
                   .device = &device_,
                   .format = i->format,
                   .shape = *shape};
      SCOPED_TRACE(c.id());
      const BufferSet set = buffers_.allocate(c.problem().operands, 1).front();
      buffers_.reset();
      try {
        const Plan plan = i->prepare ? i->prepare(device_.queue(), *shape) : nullptr;
        i->bind(device_.queue(), plan, *shape, set)();
      } catch (const Unsupported&) {
        continue;
      }
      check(c, set);
    }
  }

  // The processes that refuse the output.
  int refused(const Case& c, const BufferSet& set, CheckCost cost,
              const std::function<void(std::uint64_t seed)>& before = nullptr,
              const std::function<void()>& after = nullptr) {
    int count = 0;
    const Problem problem = c.problem();
    for (std::uint64_t seed = 1; seed <= kProcesses; ++seed) {
      if (before) before(seed);
      Verification result;
      count += OutputCheck(device_, seed, cost).before_timing(c, problem, set, result) ? 1 : 0;
      EXPECT_EQ(result.seed, seed);
      if (after) after();
    }
    return count;
  }

  // The reference of every element of the last output.
  std::vector<Expected> expected_of_last(const Problem& problem, const BufferSet& set) {
    std::vector<HostBuffer> copies;
    const std::vector<View> inputs = inputs_before_launch(device_.memory(), problem.operands, set,
                                                          0, Fill::normal, kDataSeed, copies);
    std::vector<Expected> all;
    for (std::int64_t row = 0; row < problem.rows; ++row) {
      std::vector<Expected> one = reference_of(problem, inputs, {&row, 1});
      one.resize(static_cast<std::size_t>(problem.elements_of({&row, 1})));  // a last, short row
      all.insert(all.end(), one.end() - problem.outputs.back().length_of(row), one.end());
    }
    return all;
  }

  // The processes that find an element of the last output, another in each, that is off by the norm
  // of its terms.
  int found(const Case& c, const BufferSet& set, CheckCost cost) {
    const Problem problem = c.problem();
    const Operand& output = problem.operands.back();
    const auto size = static_cast<std::size_t>(info(output.format).storage_bytes);
    const auto expected = expected_of_last(problem, set);
    std::byte* element = nullptr;
    std::uint32_t honest = 0;
    const auto spoil = [&](std::uint64_t seed) {
      const auto index = static_cast<std::size_t>(random_block(seed, 0, 0).word[0]) %
                         static_cast<std::size_t>(output.elements);
      element = static_cast<std::byte*>(set.back()) + index * size;
      std::memcpy(&honest, element, size);
      const double value = View{set.back(), output.format}[static_cast<std::int64_t>(index)];
      const double off = std::max(expected[index].norm, 0.5);
      const FormatInfo& f = info(output.format);
      std::uint32_t bits =
          encode_bits(f, static_cast<float>(value < 0 ? value + off : value - off));
      if (f.format == Format::tf32) bits <<= 13U;  // 19 bits on top of a float
      std::memcpy(element, &bits, size);
    };
    return refused(c, set, cost, spoil, [&] { std::memcpy(element, &honest, size); });
  }

  // Thousands of small comparisons: threads would cost more than they save.
  int threads_ = [] {
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    return before;
  }();
  std::vector<double> signs_;
  static constexpr std::uint64_t kDataSeed = 0;  // which an OutputCheck with a given cost assumes
  CpuDevice device_;
  Buffers buffers_{device_, Fill::normal, kDataSeed};
};

TEST_F(OneWrongElement, IsFoundInEveryOperationAndFormat) {
  for_each([&](const Case& c, const BufferSet& set) {
    EXPECT_GE(found(c, set, default_cost(device_)), kProcesses - 1);
  });
}

TEST_F(OneWrongElement, ARightOutputIsNotRefused) {
  for_each([&](const Case& c, const BufferSet& set) {
    EXPECT_EQ(refused(c, set, default_cost(device_)), 0);
  });
}

// What is left of the check of a product that is too large to be compared element by element.
// Groups of 16 elements are those of a product with 16 times the terms that a host affords.
TEST_F(OneWrongElement, IsFoundBySumsOfGroupsInAProductOfEveryFormat) {
  int products = 0;
  for_each([&](const Case& c, const BufferSet& set) {
    if (c.operation->name != "matmul") return;
    ++products;
    constexpr double few = 1e5;
    ASSERT_EQ(group_to_check(c.problem(), few), 16);
    ASSERT_LT(rows_to_check(c.problem(), 1, few).size(), 30) << "of 61";
    EXPECT_GE(found(c, set, {few, few}), kProcesses - 1);
    EXPECT_EQ(refused(c, set, {few, few}), 0);
  });
  EXPECT_GT(products, 8);
}

// What a product does whose outputs are too many to be kept: parts of rows, blocks of rows.
TEST_F(OneWrongElement, IsFoundInPartsAndBlocksAsInTheWhole) {
  int products = 0;
  for_each([&](const Case& c, const BufferSet& set) {
    if (rows_reference_of(*c.operation) == nullptr) return;
    ++products;
    const Implementation& implementation = *c.implementation;
    const Problem problem = c.problem();
    std::vector<View> inputs;
    for (std::size_t i = 0; i + 1 < set.size(); ++i) {
      inputs.push_back({set[i], problem.operands[i].format});
    }
    const auto rows = problem.all_rows();
    const View output{set.back(), problem.operands.back().format};
    const Groups groups{8, signs_ = draw_signs(problem, 1)};
    const auto in_parts = [&](std::int64_t most) {
      return compare_in_blocks(device_, implementation, problem, set, rows, inputs, most);
    };
    const Verification whole =
        compare(implementation, problem, {&output, 1}, rows, reference_of(problem, inputs, rows));
    for (const std::int64_t most : {50, 1000, 1 << 20}) {
      EXPECT_EQ(in_parts(most).elements, whole.elements);
      EXPECT_NEAR(in_parts(most).error, whole.error, 1e-6);
      EXPECT_EQ(in_parts(most).exact, whole.exact);
    }
    if (!rows_reference_of(*c.operation)->sums_groups) return;
    const auto sums = [&](std::int64_t most) {
      return compare_groups(implementation, problem, output, groups, inputs, most);
    };
    EXPECT_NEAR(sums(7).error, sums(1 << 20).error, 1e-6);
    EXPECT_TRUE(sums(7).passed());
    const auto size = static_cast<std::size_t>(info(output.format).storage_bytes);
    std::memset(static_cast<std::byte*>(set.back()) + 150 * size, 0x7F, size);  // huge or NaN
    EXPECT_FALSE(sums(7).passed());
    EXPECT_FALSE(in_parts(50).passed());
  });
  EXPECT_GT(products, 16);
}

// A machine whose sweep is as large as its threads and caches allow.
Machine host(int threads, std::int64_t cache_bytes) {
  return {.units = threads,
          .caches = {{.level = 3, .bytes = cache_bytes, .shared_by = threads}},
          .flops_per_s_hint = 5e10 * threads};
}

TEST_F(OneWrongElement, NoSizeOfAHostsSweepIsSampled) {
  for (const int threads : {1, 2, 7, 64}) {
    const Machine machine = host(threads, threads * (std::int64_t{4} << 20U));
    const double cost = default_cost(machine).first;
    for (const auto& operation : Registry::instance().operations()) {
      for (const Shape& shape : operation->shapes(Profile::standard, Pace::fast, machine)) {
        const Problem problem(*operation, shape, operation->formats.front());
        EXPECT_EQ(rows_to_check(problem, 1, cost), problem.all_rows())
            << operation->name << ' ' << shape.text() << " with " << threads << " threads";
      }
    }
  }
}

TEST(CheckSeed, EachProcessDrawsItsOwnUnlessOneIsSet) {
  EXPECT_NE(draw_check_seed(), draw_check_seed());
  setenv("RIDGEBENCH_CHECK_SEED", "123", 1);
  EXPECT_EQ(draw_check_seed(), 123U);
  for (const char* text : {"-1", "x", "1.5", "9007199254740993", " 1"}) {
    setenv("RIDGEBENCH_CHECK_SEED", text, 1);
    EXPECT_THROW(draw_check_seed(), UsageError) << text;
  }
  unsetenv("RIDGEBENCH_CHECK_SEED");
}

}  // namespace
}  // namespace ridgebench
