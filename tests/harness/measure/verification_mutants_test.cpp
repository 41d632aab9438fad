// Every host technique of every operation must pass the check in every format. The check must
// refuse these broken results: nothing computed, one element not written, part of the work omitted,
// other inputs, and a last element just outside the tolerance.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <set>

#include "harness/measure/verifying/verification.hpp"
#include "kernels/common/ceil_div.hpp"
#include "tests/support/awkward_shapes.hpp"
#include "tests/support/host_run.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

// Numbers of an element of the first operand of a product.
std::int64_t together(const Operation& operation) {
  return info(operation.formats.front().a).numbers();
}

// The sizes are no multiple of a vector or a tile, and too large for zero to be a right output.
Shape awkward_shape(const Operation& operation) {
  const std::size_t most = 3;
  if (operation.dimensions.size() > most) return awkward_shapes(operation).at(most - 1);
  std::vector<Shape::Dimension> dimensions;
  // Square, so that operands may swap.
  const std::array<std::int64_t, 3> sizes{37, 37, round_up(std::int64_t{131}, together(operation))};
  const auto count = operation.dimensions.size();
  for (std::size_t i = 0; i < count; ++i) {
    dimensions.emplace_back(operation.dimensions[i], sizes.at(count == 1 ? 2 : i));
  }
  return Shape(std::move(dimensions),
               operation.has_layout ? std::optional(Layout::nt) : std::nullopt,
               operation.attributes);
}

// Zeros are then a right output, and there is no work to leave out.
bool reads_nothing(const Implementation& i) { return i.signature.count == 1; }

bool is_product(const Operation& operation) { return operation.dimensions.size() == 3; }

class Mutants : public RegistryTest {
 protected:
  // Calls `check` with every host technique in every format, after a launch on filled inputs.
  static void for_each(const std::function<void(const Implementation&, HostRun&)>& check) {
    std::set<std::string> operations;
    for (const auto& i : Registry::instance().implementations()) {
      if (i->backend != Backend::cpu || i->operation->ceiling) continue;
      SCOPED_TRACE(std::string(i->operation->name) + "/" + std::string(i->technique.name) + "/" +
                   i->format.name());
      HostRun run(*i, awkward_shape(*i->operation));
      run.fill(Fill::normal);
      if (!run.launch()) continue;
      operations.emplace(i->operation->name);
      check(*i, run);
    }
    for (const auto& operation : Registry::instance().operations()) {
      EXPECT_TRUE(operation->ceiling || operations.contains(std::string(operation->name)))
          << operation->name << " has no host technique";
    }
  }

  static void expect_caught(HostRun& run) { EXPECT_FALSE(run.verify().passed()); }

  // Launches on inputs that `change` has changed, then restores them. The output is then wrong.
  static void expect_caught_after(HostRun& run, const std::function<void()>& change) {
    change();
    ASSERT_TRUE(run.launch());
    run.fill(Fill::normal);
    expect_caught(run);
  }
};

void set_zero(GuardedArray& array, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::size_t>(info(array.operand().format).storage_bytes);
  auto* bytes = static_cast<std::byte*>(array.data());
  std::memset(bytes + static_cast<std::size_t>(first) * size, 0,
              static_cast<std::size_t>(count) * size);
}

// Zeroes the last `tile` terms of every sum. If the operation has no sums, zeroes the last
// elements.
void drop_terms(const Operation& operation, HostRun& run, std::int64_t tile) {
  GuardedArray& factor = run.array(operation.name == "matvec" ? 1 : 0);
  const std::int64_t elements = factor.operand().elements;
  const std::int64_t length =
      is_product(operation) ? awkward_shape(operation)["k"] / together(operation) : elements;
  for (std::int64_t end = length; end <= elements; end += length) {
    set_zero(factor, end - tile, tile);
  }
}

TEST_F(Mutants, TheHonestOutputPasses) {
  for_each([](const Implementation& i, HostRun& run) {
    const Verification v = run.verify();
    EXPECT_TRUE(v.passed()) << v.error;
    EXPECT_EQ(v.elements, Problem(*i.operation, awkward_shape(*i.operation), i.format).elements);
  });
}

TEST_F(Mutants, AllZeros) {
  for_each([](const Implementation& i, HostRun& run) {
    if (reads_nothing(i)) return;
    set_zero(run.output(), 0, run.output().operand().elements);
    expect_caught(run);
  });
}

TEST_F(Mutants, OneElementUnwritten) {
  for_each([](const Implementation&, HostRun& run) {
    const std::int64_t elements = run.output().operand().elements;
    for (const std::int64_t index : {std::int64_t{0}, elements / 2, elements - 1}) {
      ASSERT_TRUE(run.launch());
      run.output().set_nan(index);
      expect_caught(run);
    }
  });
}

TEST_F(Mutants, PartOfTheWorkLeftOut) {
  for_each([](const Implementation& i, HostRun& run) {
    if (reads_nothing(i)) return;
    for (const std::int64_t tile : {3, 8, 32}) {  // a loop's remainder, a register, a block
      expect_caught_after(run, [&] { drop_terms(*i.operation, run, tile); });
    }
  });
}

TEST_F(Mutants, AnotherSetsInputs) {
  for_each([](const Implementation& i, HostRun& run) {
    for (std::size_t input = 0; input < i.signature.count; ++input) {
      if (!run.array(input).operand().is_input()) continue;
      expect_caught_after(run, [&] { run.array(input).fill(Fill::normal, 99); });
    }
  });
}

// Only a product of matrices changes: relu and gelu have one input, dot is symmetric, and the two
// inputs of matvec differ in size.
TEST_F(Mutants, ExchangedOperands) {
  int products = 0;
  for_each([&](const Implementation& i, HostRun& run) {
    if (!is_product(*i.operation)) return;
    ++products;
    expect_caught_after(run, [&] {  // stream s belongs to input s, see HostRun::fill
      run.array(0).fill(Fill::normal, 1);
      run.array(1).fill(Fill::normal, 0);
    });
  });
  EXPECT_GT(products, 0);
}

// Returns the reference of the last element of the last output.
Expected last_expected(const Implementation& i, HostRun& run) {
  const Problem problem(*i.operation, awkward_shape(*i.operation), i.format);
  const std::int64_t row = problem.rows - 1;
  const std::int64_t elements = problem.elements_of({&row, 1});
  return reference_of(problem, run.inputs(), {&row, 1}).at(static_cast<std::size_t>(elements - 1));
}

// Rounds a number and stores it as the last element.
void store_last(GuardedArray& output, double value) {
  const FormatInfo& f = info(output.operand().format);
  std::uint32_t bits = encode_bits(f, static_cast<float>(value));
  if (f.format == Format::tf32) bits <<= 13U;  // 19 bits on top of a float
  const auto size = static_cast<std::size_t>(f.storage_bytes);
  const auto last = static_cast<std::size_t>(output.operand().elements - 1);
  std::memcpy(static_cast<std::byte*>(output.data()) + last * size, &bits, size);
}

// An error of four tolerances stays outside, because rounding changes it by less than one. The test
// also checks that the tolerance is narrow: the rounding of a correct result, and less than a
// thousandth of the terms for sums and special functions.
TEST_F(Mutants, LastElementOutsideTheTolerance) {
  for_each([](const Implementation& i, HostRun& run) {
    const Format format = run.output().operand().format;
    const Expected e = last_expected(i, run);
    const double bound = tolerance(i, awkward_shape(*i.operation), format, e);
    EXPECT_LE(bound, info(format).epsilon() * std::abs(e.value) + info(format).min_subnormal() +
                         1e-3 * e.norm);
    store_last(run.output(), e.value + (e.value < 0 ? -4 : 4) * bound);
    expect_caught(run);
    store_last(run.output(), e.value);
    EXPECT_TRUE(run.verify().passed());
  });
}

}  // namespace
}  // namespace ridgebench
