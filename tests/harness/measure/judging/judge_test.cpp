// Tests what judge() derives from a verified case's time: denominators, bound, flags and validity.
#include <gmock/gmock.h>

#include "harness/measure/measurer.hpp"
#include "kernels/common/cuda/tensor_instruction.hpp"
#include "tests/support/made_up_case.hpp"
#include "tests/support/resolved_registry.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kElements = 1 << 16;  // traffic of 512 KiB exceeds the simulated cache

Record judged(Measurer& measurer, const Case& c) { return measurer.measure(c, 0, nullptr); }

// A case of 2^16 elements on a simulated device without noise.
struct Bench {
  explicit Bench(const std::string& simulation, std::int64_t n = kElements)
      : device(parse_simulation("noise=0," + simulation)), made_up(device, MadeUpCase::copy, n) {}

  Record measure(Regime regime = Regime::steady) { return judged(measurer, made_up.get(regime)); }

  SimulatedDevice device;
  MadeUpCase made_up;
  Measurer measurer{device, Fill::normal, 1};
};

TEST(Judge, WithoutADataSheetAndCeilingsThereIsNothingToCompareWith) {
  const Record record = Bench("gap=0").measure();
  ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
  EXPECT_FALSE(record.mfu || record.fraction_of_roof_at_clock);
  EXPECT_FALSE(record.fraction_of_measured_roof || record.bound);
  EXPECT_THAT(record.flags, Contains("unbounded"));
}

TEST(Judge, DataSheetGivesMfuAndTheRoofAtTheClockHeld) {
  const Record record = Bench("sheet=h100-sxm,clock=0.99e9").measure();
  ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
  const double flops_per_s = record.flops_per_s().value();
  EXPECT_DOUBLE_EQ(record.mfu.value(), flops_per_s / 67e12);
  EXPECT_DOUBLE_EQ(record.fraction_of_roof_at_clock.value(), flops_per_s / (132 * 256 * 0.99e9));
}

// The pins of an H100 SXM carry 3.352e12 byte/s.
TEST(Judge, MoreBandwidthThanThePinsCarryIsInvalid) {
  const Record record = Bench("sheet=h100-sxm,bandwidth=1e13,gap=0").measure();
  EXPECT_EQ(record.status, Status::invalid);
  EXPECT_THAT(record.reason.value_or(""), HasSubstr("miscounted"));
  EXPECT_FALSE(record.time || record.bytes_per_s());
  EXPECT_EQ(Bench("sheet=h100-sxm,bandwidth=3.3e12,gap=0").measure().status, Status::ok);
}

// At 1e5 Hz, 132 SMs x 256 FLOP issue 3.4e9 FLOP/s.
TEST(Judge, MoreArithmeticThanTheEngineIssuesIsInvalid) {
  const Record record = Bench("sheet=h100-sxm,clock=1e5").measure();
  EXPECT_EQ(record.status, Status::invalid);
  EXPECT_THAT(record.reason.value_or(""), HasSubstr("than the engine issues"));
  EXPECT_EQ(Bench("clock=1e5").measure().status, Status::ok) << "no data sheet, no such limit";
}

TEST(Judge, ARowServedByTheCacheIsFlaggedAndExemptFromThePins) {
  Bench small("sheet=h100-sxm,bandwidth=1e13,gap=0", 1000);
  const Record warm = small.measure(Regime::warm);
  EXPECT_EQ(warm.status, Status::ok) << warm.reason.value_or("");
  EXPECT_THAT(warm.flags, Contains("served_by_cache"));
  const Record steady = Bench("sheet=h100-sxm,bandwidth=1e13,gap=0").measure();
  EXPECT_EQ(steady.status, Status::invalid) << "its rotation empties the cache";
  EXPECT_THAT(steady.flags, Not(Contains("served_by_cache")));
  const Record large = Bench("sheet=h100-sxm,bandwidth=1e13,gap=0").measure(Regime::warm);
  EXPECT_EQ(large.status, Status::invalid) << "too large for the cache";
}

// A copy that declares its rate per unit and clock cycle.
struct Declaring : Bench {
  Declaring(const std::string& simulation, Resource resource) : Bench(simulation) {
    made_up.operation.ceiling =
        Ceiling{resource, 0, [](const Machine&, FormatPair) { return 8.0; }};
  }
  // Rate of all units at 1 GHz.
  [[nodiscard]] double most() const { return 8e9 * device.machine().units; }
};

TEST(Judge, ACeilingIsComparedWithWhatItDeclares) {
  Declaring cache("gap=0,bandwidth=1e9,clock=1e9", Resource::cache);
  const Record bytes = cache.measure();
  ASSERT_EQ(bytes.status, Status::ok) << bytes.reason.value_or("");
  EXPECT_DOUBLE_EQ(bytes.fraction_of_roof_at_clock.value(), *bytes.bytes_per_s() / cache.most());
  Declaring sfu("gap=0,bandwidth=1e9,clock=1e9", Resource::sfu);
  const Record results = sfu.measure();
  ASSERT_EQ(results.status, Status::ok) << results.reason.value_or("");
  EXPECT_DOUBLE_EQ(results.fraction_of_roof_at_clock.value(), *results.flops_per_s() / sfu.most());
}

TEST(Judge, ACeilingAboveWhatItDeclaresIsInvalid) {
  Declaring cache("gap=0,bandwidth=1e13,clock=1e6", Resource::cache);
  const Record record = cache.measure();
  EXPECT_EQ(record.status, Status::invalid);
  EXPECT_THAT(record.reason.value_or(""), HasSubstr("than the memory carries"));
}

// The ceilings of the simulated device, which the tests measure like any case.
struct WithCeilings : Bench {
  explicit WithCeilings(const std::string& simulation) : Bench(simulation) {
    memory.operation.name = "copy_ceiling";
    memory.operation.ceiling = Ceiling{Resource::memory};
    fma.operation.name = "fma_ceiling";
    fma.operation.ceiling = Ceiling{Resource::fma};
    fma.operation.flops = [](const Shape&) { return 1e9; };
    fma.implementation.technique.engine = Engine::fma;
  }

  MadeUpCase memory{device, MadeUpCase::copy, kElements};
  MadeUpCase fma{device};
};

TEST(Judge, MeasuredCeilingsAreWhatALaterRowIsJudgedBy) {
  WithCeilings bench("peak=1e12,bandwidth=1e10,gap=0");
  const Record memory = judged(bench.measurer, bench.memory.get());
  ASSERT_EQ(memory.status, Status::ok) << memory.reason.value_or("");
  EXPECT_EQ(memory.bound, Limit::memory);
  const Record fma = judged(bench.measurer, bench.fma.get());
  ASSERT_EQ(fma.status, Status::ok) << fma.reason.value_or("");
  EXPECT_EQ(fma.bound, Limit::compute);

  const Record kernel = bench.measure();
  ASSERT_TRUE(kernel.roof);
  EXPECT_EQ(kernel.roof->memory_ceiling, bench.memory.get().id());
  EXPECT_EQ(kernel.roof->compute_ceiling, bench.fma.get().id());
  EXPECT_NEAR(kernel.roof->bytes_per_s.value(), 1e10, 1);
  EXPECT_NEAR(kernel.roof->flops_per_s.value(), 1e12, 100);
  EXPECT_NEAR(kernel.fraction_of_measured_roof.value(), 1, 1e-9);
  EXPECT_EQ(kernel.bound, Limit::memory);
}

TEST(Judge, AnOperationIsJudgedByTheEngineThatMayDoItsArithmetic) {
  WithCeilings bench("gap=0");
  judged(bench.measurer, bench.memory.get());
  judged(bench.measurer, bench.fma.get());
  bench.made_up.implementation.technique.engine = Engine::tensor;
  EXPECT_EQ(bench.measure().roof->compute_ceiling, bench.fma.get().id());
  bench.made_up.operation.engine = Engine::tensor;
  EXPECT_FALSE(bench.measure().roof->compute_ceiling) << "a product has its technique's engine";
}

TEST(Judge, ARowAboveItsRoofIsFlaggedAndJudgesNoOther) {
  WithCeilings slow("gap=0,slow=2");
  WithCeilings bench("gap=0");
  bench.measurer.add_ceiling(judged(slow.measurer, slow.memory.get()));
  for (int again = 0; again < 2; ++again) {
    const Record fast = bench.measure();
    EXPECT_THAT(fast.flags, Contains("above_roof"));
    EXPECT_NEAR(fast.fraction_of_measured_roof.value(), 2, 1e-9) << "by the ceiling, in any order";
  }
  WithCeilings equal("gap=0");
  judged(equal.measurer, equal.memory.get());
  EXPECT_THAT(equal.measure().flags, Not(Contains("above_roof")));
}

// The row has no time for more than one set, which the caches hold: 8 KB of the 384 KiB that empty
// them. The ceiling of the same bench moves 512 KiB.
TEST(Judge, ASteadyRowWithTooFewSetsIsServedByTheCacheAndNotAboveItsRoof) {
  WithCeilings slow("gap=0,slow=2");
  const Record ceiling = judged(slow.measurer, slow.memory.get());
  EXPECT_THAT(ceiling.flags, Not(Contains("served_by_cache")));
  Bench small("sheet=h100-sxm,bandwidth=1e13,gap=0", 1000);
  small.measurer.add_ceiling(ceiling);
  const Record record = small.measure();
  EXPECT_EQ(record.status, Status::ok) << "the pins of the memory do not limit it";
  EXPECT_THAT(record.flags, Contains("short_rotation"));
  EXPECT_THAT(record.flags, Contains("served_by_cache"));
  EXPECT_GT(record.fraction_of_measured_roof.value(), 2);
  EXPECT_THAT(record.flags, Not(Contains("above_roof")));
}

TEST(Judge, ACeilingBelowTheEnginesFullRateIsFlaggedAndNoRoof) {
  WithCeilings bench("gap=0");
  bench.fma.implementation.technique.full_rate = [](const Machine&) { return false; };
  EXPECT_THAT(judged(bench.measurer, bench.fma.get()).flags, Contains("partial_rate"));
  EXPECT_FALSE(bench.measure().roof->flops_per_s);
  bench.fma.implementation.technique.full_rate = [](const Machine&) { return true; };
  EXPECT_THAT(judged(bench.measurer, bench.fma.get()).flags, Not(Contains("partial_rate")));
  EXPECT_TRUE(bench.measure().roof->flops_per_s);
}

TEST(Judge, OneOfASweepIsFlaggedAndNoRoof) {
  WithCeilings bench("gap=0");
  bench.fma.operation.ceiling->sweep = true;
  bench.memory.operation.ceiling->sweep = true;
  EXPECT_THAT(judged(bench.measurer, bench.fma.get()).flags, Contains("partial_rate"));
  EXPECT_THAT(judged(bench.measurer, bench.memory.get()).flags, Contains("partial_rate"));
  EXPECT_FALSE(bench.measure().roof->flops_per_s);
  EXPECT_FALSE(bench.measure().roof->bytes_per_s);
}

// A product of tensor cores on a GPU of this compute capability, after mma.sync's ceiling.
Record tensor_product_on(const std::string& capability) {
  WithCeilings bench("sheet=h100-sxm,peak=1e12,bandwidth=1e10,gap=0,capability=" + capability);
  bench.fma.operation.ceiling = Ceiling{Resource::tensor};
  bench.fma.implementation.technique.engine = Engine::tensor;
  bench.fma.implementation.technique.full_rate = [](const Machine& machine) {
    return tensor_instruction(machine) == "mma.sync";
  };
  judged(bench.measurer, bench.memory.get());
  judged(bench.measurer, bench.fma.get());
  bench.made_up.operation.engine = Engine::tensor;
  bench.made_up.operation.flops = [](const Shape&) { return 2e12; };  // faster than the ceiling
  bench.made_up.implementation.technique.engine = Engine::tensor;
  return bench.measure();
}

TEST(Judge, TensorCoresThatNoCeilingReachesHaveNoRoofAndTheRecordSaysWhy) {
  for (const auto& [capability, name] :
       {std::pair("100", "10.0"), std::pair("103", "10.3"), std::pair("110", "11.0")}) {
    const Record record = tensor_product_on(capability);
    ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
    EXPECT_FALSE(record.roof->flops_per_s || record.fraction_of_measured_roof || record.bound);
    EXPECT_EQ(record.roof_unknown,
              std::string("no ceiling here reaches the tensor cores of compute "
                          "capability ") +
                  name + ", which tcgen05 drives");
    EXPECT_THAT(record.flags, Not(Contains("above_roof")));
    EXPECT_TRUE(record.roof->bytes_per_s && record.mfu) << "memory's roof and the data sheet's";
    EXPECT_EQ(parse_record(to_json(record).dump(), "line").roof_unknown, record.roof_unknown);
  }
}

TEST(Judge, TensorCoresThatMmaSyncSaturatesHaveItsRoof) {
  for (const std::string capability : {"80", "86", "89", "120"}) {
    const Record record = tensor_product_on(capability);
    EXPECT_TRUE(record.roof->flops_per_s && record.fraction_of_measured_roof) << capability;
    EXPECT_FALSE(record.roof_unknown) << capability;
  }
  const Record hopper = tensor_product_on("90");
  EXPECT_FALSE(hopper.roof->flops_per_s) << "wgmma's ceiling was not measured";
  EXPECT_FALSE(hopper.roof_unknown) << "but there is one";
}

// A ceiling that does 1e9 results per launch, far slower than the memory moves the kernel's data.
TEST(Judge, SpecialFunctionsAndConversionsJudgeTheRowsThatTheyLimit) {
  for (const auto& [resource, converts] :
       {std::pair(Resource::sfu, false), std::pair(Resource::widen, true)}) {
    WithCeilings bench("peak=1e12,bandwidth=1e10,gap=0");
    judged(bench.measurer, bench.memory.get());
    bench.fma.operation.ceiling = Ceiling{resource};
    bench.fma.operation.flops = [](const Shape&) { return 1e6; };
    const Record ceiling = judged(bench.measurer, bench.fma.get());
    ASSERT_EQ(ceiling.status, Status::ok) << ceiling.reason.value_or("");
    EXPECT_EQ(ceiling.bound, Limit::special);
    constexpr double kResults = 1e15;
    if (converts) {
      bench.made_up.implementation.technique.arithmetic = Format::bf16;
    } else {
      bench.made_up.operation.special = [](const Shape&) { return kResults; };
    }
    const Record kernel = bench.measure();
    ASSERT_TRUE(kernel.roof);
    EXPECT_EQ(kernel.roof->special_ceiling, ceiling.id) << static_cast<int>(resource);
    EXPECT_EQ(kernel.roof->special_results, converts ? kElements : kResults);
    EXPECT_DOUBLE_EQ(kernel.roof->special_results_per_s.value(), ceiling.flops_per_s().value());
    if (converts) continue;
    EXPECT_EQ(kernel.bound, Limit::special);
    EXPECT_DOUBLE_EQ(kernel.fraction_of_measured_roof.value(),
                     *kernel.roof->special_s() / kernel.time->median);
  }
}

TEST(Judge, ARowThatCalculatesNeedsBothCeilings) {
  WithCeilings bench("gap=0");
  bench.made_up.implementation.technique.engine = Engine::fma;
  EXPECT_FALSE(bench.measure().fraction_of_measured_roof);
  judged(bench.measurer, bench.memory.get());
  EXPECT_FALSE(bench.measure().fraction_of_measured_roof);
  judged(bench.measurer, bench.fma.get());
  EXPECT_TRUE(bench.measure().fraction_of_measured_roof);
}

TEST(Judge, ARowThatOnlyMovesDataNeedsTheMemorysCeiling) {
  WithCeilings bench("gap=0");
  judged(bench.measurer, bench.fma.get());
  EXPECT_FALSE(bench.measure().fraction_of_measured_roof);
  judged(bench.measurer, bench.memory.get());
  const Record record = bench.measure();
  EXPECT_NEAR(record.fraction_of_measured_roof.value(), 1, 1e-9);
  EXPECT_THAT(record.flags, Not(Contains("unbounded")));
}

TEST(Judge, CeilingsOfAnEarlierRunServeAsWell) {
  WithCeilings earlier("gap=0");
  WithCeilings later("gap=0,slow=2");
  later.measurer.add_ceiling(judged(earlier.measurer, earlier.memory.get()));
  later.measurer.add_ceiling(judged(earlier.measurer, earlier.fma.get()));
  EXPECT_NEAR(later.measure().fraction_of_measured_roof.value(), 0.5, 1e-9);
}

TEST(Judge, AControlRowAndAWrongCeilingRaiseNoRoof) {
  WithCeilings bench("gap=0");
  judged(bench.measurer, bench.fma.get());
  Case control = bench.memory.get();
  control.control = true;
  EXPECT_EQ(judged(bench.measurer, control).status, Status::ok);
  EXPECT_FALSE(bench.measure().fraction_of_measured_roof);
  MadeUpCase wrong(bench.device, [](const float*, float* y, std::int64_t) { y[0] = 0; });
  wrong.operation.ceiling = Ceiling{Resource::memory};
  EXPECT_EQ(judged(bench.measurer, wrong.get()).status, Status::wrong);
  EXPECT_FALSE(bench.measure().fraction_of_measured_roof);
}

TEST(Judge, UnderTenLaunchFloorsTheLaunchIsTheLimit) {
  WithCeilings bench("gap=1e-3");
  judged(bench.measurer, bench.memory.get());
  judged(bench.measurer, bench.fma.get());
  EXPECT_EQ(bench.measure().bound, Limit::launch);
}

TEST(Judge, ASlowRowShortensItsRotationAndSaysSo) {
  const Record record = Bench("", 1000).measure();  // many sets fit, but there is no time for them
  EXPECT_EQ(record.sets, 1);
  EXPECT_THAT(record.flags, Contains("short_rotation"));
}

class JudgeRegistry : public RegistryTest {};

TEST_F(JudgeRegistry, AStorageFormatIsFlagged) {
  SimulatedDevice device{Simulation{}};
  Measurer measurer(device, Fill::normal, 1);
  int seen = 0;
  for (const Case& c :
       enumerate_cases(Registry::instance(), device, Profile::quick, {Regime::steady})) {
    const std::string id = c.id();
    if (!id.starts_with("relu/naive/fp32/") && !id.starts_with("relu/naive/bf16/")) continue;
    ++seen;
    const Record record = judged(measurer, c);
    ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
    const bool flagged = std::ranges::count(record.flags, "storage_format") > 0;
    EXPECT_EQ(flagged, id.starts_with("relu/naive/bf16/"));
    EXPECT_EQ(record.arithmetic, Format::fp32);
  }
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace ridgebench
