// Tests what becomes of a row that is faster than its roof allows. The device has no noise, so that
// only the factors below move a time.
#include "harness/measure/judging/second_looks.hpp"

#include <gmock/gmock.h>

#include "harness/measure/measurer.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/results/suspect.hpp"
#include "tests/support/made_up_case.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::int64_t kCopied = 1 << 16;  // 512 KiB of traffic, which no simulated cache holds
constexpr double kBandwidth = 1e11;        // of the simulated memory, in byte/s

// A kernel and a ceiling of the memory that copy the same numbers.
struct TwoCopies {
  TwoCopies() {
    ceiling.operation.name = "copy_ceiling";
    ceiling.operation.ceiling = Ceiling{Resource::memory};
    stretch(ceiling, ceiling_takes);
    stretch(kernel, kernel_takes);
  }

  Record measure_ceiling() {
    Record record = measurer.measure(ceiling.get(), 0, nullptr);
    looks.add(ceiling.get());
    looks.add(record);
    return record;
  }

  Record measure_kernel(Regime regime = Regime::steady) {
    Record first = measurer.measure(kernel.get(regime), 0, nullptr);
    Record record =
        looks.confirm(std::move(first), kernel.get(regime), 0, [&](const Case& c, double seconds) {
          ++measured_again;
          if (kernel_takes_later > 0) kernel_takes = kernel_takes_later;
          if (fails_later) fails = true;
          return measurer.measure(c, seconds, nullptr);
        });
    looks.add(record);
    return record;
  }

  SimulatedDevice device{parse_simulation("noise=0,gap=0")};
  bool fails = false;
  MadeUpCase kernel{device,
                    [this](const float* x, float* y, std::int64_t n) {
                      if (fails) throw std::runtime_error("the second launch fails");
                      MadeUpCase::copy(x, y, n);
                    },
                    kCopied};
  MadeUpCase ceiling{device, MadeUpCase::copy, kCopied};
  Measurer measurer{device, Fill::normal, 1};
  SecondLooks looks;
  double ceiling_takes = 1;       // of the time that the memory needs
  double kernel_takes = 1;        // likewise
  double kernel_takes_later = 0;  // in the turns; 0: as before
  bool fails_later = false;
  int measured_again = 0;

 private:
  // Makes the launches of a case take that many times the model's time.
  void stretch(MadeUpCase& made_up, const double& times) {
    made_up.implementation.bind = [&, bind = made_up.implementation.bind](
                                      Queue& queue, const Plan& plan, const Shape& shape,
                                      std::span<void* const> operands) {
      Launch launch = bind(queue, plan, shape, operands);
      const Work work = made_up.get().work();
      device.set_work({work.flops * times, work.bytes * times});
      return launch;
    };
  }
};

TEST(SecondLooks, AKernelThatSkipsItsWorkIsSuspectAndHasNoTime) {
  TwoCopies run;
  run.measure_ceiling();
  run.kernel_takes = 0.01;
  const Record record = run.measure_kernel();
  EXPECT_EQ(record.status, Status::suspect);
  EXPECT_EQ(run.measured_again, 6) << "the ceiling and the row, in three turns";
  EXPECT_THAT(record.reason.value_or(""), HasSubstr("faster than possible: 10 TB/s, but "));
  EXPECT_THAT(record.reason.value_or(""), HasSubstr(run.ceiling.get().id()));
  EXPECT_FALSE(record.time || record.time_mean_s || record.bytes_per_s() || record.cycles_median);
  EXPECT_FALSE(record.fraction_of_measured_roof || record.mfu || record.bound);
  EXPECT_FALSE(record.samples_s.empty()) << "the evidence stays";
  EXPECT_THAT(record.second_look.value().times_s, SizeIs(3));
  EXPECT_NEAR(record.second_look->bytes_per_s.value(), kBandwidth, 1);
  EXPECT_THAT(record.flags, Not(Contains(kAboveRoof))) << "it raises no roof";
  EXPECT_EQ(parse_record(to_json(record).dump(), "line").status, Status::suspect);
  EXPECT_TRUE(impossible(record, record.samples_s.front()));
}

TEST(SecondLooks, ACeilingThatWasSlowOnceIsMeasuredAgainAndTheRowRaisesTheRoof) {
  TwoCopies run;
  run.ceiling_takes = 2;
  const Record ceiling = run.measure_ceiling();
  run.ceiling_takes = 1;
  const Record record = run.measure_kernel();
  EXPECT_EQ(record.status, Status::ok) << record.reason.value_or("");
  EXPECT_THAT(record.flags, Contains(kAboveRoof));
  EXPECT_NEAR(record.fraction_of_measured_roof.value(), 2, 1e-9) << "by the ceiling of the run";
  EXPECT_NEAR(record.second_look.value().bytes_per_s.value(), kBandwidth, 1);
  EXPECT_THAT(record.second_look->times_s, SizeIs(3));
  EXPECT_NEAR(ceiling_rate(ceiling).value().per_s, kBandwidth / 2, 1);

  const int so_far = run.measured_again;
  const Record next = run.measure_kernel();
  EXPECT_EQ(next.status, Status::ok);
  EXPECT_EQ(run.measured_again, so_far) << "one look at a ceiling is enough";
  EXPECT_THAT(next.second_look.value().times_s, SizeIs(0));
  EXPECT_NEAR(next.second_look->bytes_per_s.value(), kBandwidth, 1);
  EXPECT_EQ(next.fraction_of_measured_roof, record.fraction_of_measured_roof) << "in any order";
}

TEST(SecondLooks, AResumedRunHasTheLooksOfTheFirst) {
  TwoCopies first;
  first.ceiling_takes = 2;
  const Record ceiling = first.measure_ceiling();
  first.ceiling_takes = 1;
  const Record row = first.measure_kernel();
  TwoCopies resumed;
  for (const Record& record : {ceiling, row}) resumed.looks.add(record);
  resumed.measurer.add_ceiling(ceiling);
  EXPECT_EQ(resumed.measure_kernel().status, Status::ok);
  EXPECT_EQ(resumed.measured_again, 0);
}

TEST(SecondLooks, ARowThatWasFastOnceHasTheTimeOfATurn) {
  TwoCopies run;
  run.measure_ceiling();
  run.kernel_takes = 0.5;
  run.kernel_takes_later = 1;
  const Record record = run.measure_kernel();
  EXPECT_EQ(record.status, Status::ok) << record.reason.value_or("");
  EXPECT_NEAR(record.bytes_per_s().value(), kBandwidth, 1);
  EXPECT_THAT(record.flags, Not(Contains(kAboveRoof)));
  EXPECT_THAT(record.second_look.value().times_s, SizeIs(3));
}

TEST(SecondLooks, ARowThatFailsInATurnHasFailed) {
  TwoCopies run;
  run.measure_ceiling();
  run.kernel_takes = 0.5;
  run.fails_later = true;
  EXPECT_EQ(run.measure_kernel().status, Status::failed);
}

TEST(SecondLooks, UpToATenthAboveTheRoofRaisesIt) {
  TwoCopies run;
  run.measure_ceiling();
  run.kernel_takes = 1 / 1.09;
  const Record record = run.measure_kernel();
  EXPECT_EQ(record.status, Status::ok);
  EXPECT_THAT(record.flags, Contains(kAboveRoof));
  EXPECT_FALSE(record.second_look);
  run.kernel_takes = 1 / 1.11;
  EXPECT_EQ(run.measure_kernel().status, Status::suspect);
}

TEST(SecondLooks, ACeilingThatCannotBeMeasuredAgainJudgesAsItStands) {
  TwoCopies run;
  const Record ceiling = run.measurer.measure(run.ceiling.get(), 0, nullptr);
  run.kernel_takes = 0.5;
  EXPECT_EQ(run.measure_kernel().status, Status::suspect) << ceiling.id << " is not registered";
  EXPECT_EQ(run.measured_again, 3) << "the row alone";
}

TEST(SecondLooks, OtherRegimesAndRowsThatCachesMayServeAreExempt) {
  TwoCopies run;
  run.measure_ceiling();
  run.kernel_takes = 0.1;
  EXPECT_EQ(run.measure_kernel(Regime::warm).status, Status::ok);
  Record cached = run.measurer.measure(run.kernel.get(), 0, nullptr);
  EXPECT_TRUE(too_fast(cached));
  cached.flags.emplace_back(kServedByCache);
  EXPECT_FALSE(too_fast(cached));
  cached.engine = Engine::fma;
  cached.roof->flops_per_s = *cached.flops_per_s() / 2;
  EXPECT_TRUE(too_fast(cached)) << "no cache makes arithmetic faster";
  cached.op = "gelu";
  EXPECT_FALSE(too_fast(cached)) << "whose FLOPs are a convention";
}

}  // namespace
}  // namespace ridgebench
