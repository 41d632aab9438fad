#include "harness/measure/verifying/witness.hpp"

#include <cstring>

#include "harness/device/cpu/device.hpp"
#include "harness/measure/verifying/verification.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

// The reference cannot afford this number of elements.
constexpr std::int64_t kWitnessed = 1 << 22;

class WitnessTest : public RegistryTest {
 protected:
  // Runs the fast host technique of an operation in fp32 on the first buffer set.
  void run(std::string_view operation) {
    for (const auto& i : Registry::instance().implementations()) {
      const Technique& t = i->technique;
      const bool fast =
          i->backend == Backend::cpu && t.pace == Pace::fast && t.origin == Origin::hand;
      if (i->operation->name == operation && i->format == FormatPair(Format::fp32) && fast) {
        row_ = {.operation = i->operation,
                .technique = t,
                .implementation = i.get(),
                .device = &device_,
                .format = Format::fp32,
                .shape = Shape({{"n", kWitnessed}})};
      }
    }
    ASSERT_NE(row_.implementation, nullptr);
    set_ = buffers_.allocate(row_.problem().operands, 1).front();
    row_.implementation->bind(device_.queue(), nullptr, row_.shape, set_)();
  }

  std::optional<Witness> ask() {
    const auto rows = rows_to_check(row_.problem(), 1);
    EXPECT_LT(std::ssize(rows) * 256, kWitnessed) << "a sample";
    const auto inputs = [&] { return std::vector<View>{{set_[0], Format::fp32}}; };
    ReferenceCache references;
    const auto& expected = references.get("", row_.problem(), inputs, rows);
    return ask_witness(device_, row_, row_.problem(), set_, rows, expected);
  }

  float& output(std::int64_t index) { return static_cast<float*>(set_.back())[index]; }

  CpuDevice device_;
  Buffers buffers_{device_, Fill::normal, 5};
  Case row_{};
  BufferSet set_;
};

TEST_F(WitnessTest, AReferenceThatCouldNotBeMadeIsAskedForAgain) {
  run("relu");
  const auto rows = rows_to_check(row_.problem(), 1);
  ReferenceCache references;
  const auto none = []() -> std::vector<View> { throw std::bad_alloc(); };
  EXPECT_THROW(references.get("", row_.problem(), none, rows), std::bad_alloc);
  const auto inputs = [&] { return std::vector<View>{{set_[0], Format::fp32}}; };
  EXPECT_FALSE(references.get("", row_.problem(), inputs, rows).empty());
}

TEST_F(WitnessTest, AgreesWithARightOutput) {
  for (const std::string_view operation : {"relu", "gelu"}) {
    run(operation);
    const auto witness = ask();
    if (!witness) GTEST_SKIP() << "built without another fast technique";
    EXPECT_NE(witness->technique, row_.technique.name);
    EXPECT_LE(witness->error, 1);
  }
}

// The wrong element is in a block that the reference's sample does not contain.
TEST_F(WitnessTest, FindsOneWrongElementAnywhere) {
  run("gelu");
  if (!ask()) GTEST_SKIP() << "built without another fast technique";
  const auto rows = rows_to_check(row_.problem(), 1);
  std::int64_t block = 1;
  while (std::ranges::find(rows, block) != rows.end()) ++block;
  output(block * 256 + 17) += 0.001F;
  EXPECT_GT(ask()->error, 1);
  output(block * 256 + 17) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_GT(ask()->error, 1e300);
}

TEST_F(WitnessTest, LeavesTheOutputAlone) {
  run("relu");
  const float before = output(12345);
  output(12345) = 42;
  static_cast<void>(ask());
  EXPECT_EQ(output(12345), 42) << "was " << before;
}

}  // namespace
}  // namespace ridgebench
