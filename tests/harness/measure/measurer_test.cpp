#include "harness/measure/measurer.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>

#include "kernels/common/error.hpp"
#include "tests/support/made_up_case.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Without time, the sampler takes kFewestSamples.
constexpr double kNoBudget = 0;

Record measure(Device& device, const Case& c) {
  return Measurer(device, Fill::normal, 1).measure(c, kNoBudget, nullptr);
}

// Measures `kernel` with time for a rotation over many buffer sets.
Record measure(const MadeUpCase::Kernel& kernel, bool order_dependent = false) {
  SimulatedDevice device{Simulation{}};
  MadeUpCase made_up(device, kernel);
  made_up.implementation.technique.order_dependent = order_dependent;
  return Measurer(device, Fill::normal, 1).measure(made_up.get(), 0.1, nullptr);
}

std::string reason_of(const Record& record, Status status) {
  EXPECT_EQ(record.status, status);
  EXPECT_FALSE(record.time) << "only an ok case has a time";
  EXPECT_FALSE(record.flops_per_s() || record.bytes_per_s()) << "only an ok case has a rate";
  return record.reason.value_or("no reason");
}

TEST(Measure, ARightRowIsOk) {
  const Record record = measure(MadeUpCase::copy);
  ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
  EXPECT_FALSE(record.reason);
  EXPECT_GE(record.samples_s.size(), kFewestSamples);
  EXPECT_GT(record.sets, 1);
  EXPECT_EQ(record.launches_per_sample % record.sets, 0);
  EXPECT_EQ(record.clock_hz, 1e9);
  ASSERT_TRUE(record.verify);
  EXPECT_TRUE(record.verify->exact);
  EXPECT_EQ(record.verify->elements, 1000 * record.sets)
      << "the first set before, whose bits stayed, and every other after";
  ASSERT_TRUE(record.time);
  EXPECT_DOUBLE_EQ(*record.flops_per_s(), 1000 / record.time->median);
  EXPECT_DOUBLE_EQ(*record.bytes_per_s(), 8000 / record.time->median);
}

void zeros(const float*, float* y, std::int64_t n) { std::fill_n(y, n, 0.0F); }

// Returns the reason for which zeros fail once `change` made the tolerance wide.
std::string reason_of_zeros(const std::function<void(MadeUpCase&)>& change) {
  SimulatedDevice device{Simulation{}};
  MadeUpCase made_up(device, zeros);
  change(made_up);
  return reason_of(measure(device, made_up.get()), Status::failed);
}

TEST(Measure, AToleranceThatAcceptsZerosFails) {
  EXPECT_THAT(reason_of_zeros([](MadeUpCase& made_up) {
                made_up.implementation.technique.accumulator = Format::fp8_e5m2;
              }),
              HasSubstr("its fp8_e5m2 accumulator allow an error of 1 of the reference's norm"));
  EXPECT_THAT(reason_of_zeros([](MadeUpCase& made_up) {
                made_up.implementation.technique.approximation_error = 1;
              }),
              HasSubstr("allow an error of 1 of the reference's norm; allowed: less than 0.5"));
  EXPECT_THAT(reason_of_zeros([](MadeUpCase& made_up) {
                made_up.operation.reference = [right = made_up.operation.reference](
                                                  const Shape& shape, std::int64_t row,
                                                  std::span<const View> in,
                                                  std::span<Expected> out) {
                  right(shape, row, in, out);
                  for (Expected& e : out) e.norm = 1e9;
                };
              }),
              HasSubstr("the tolerance accepts zeros for all of 1000 elements"));
}

// A host whose first single launch is interrupted for 10 ms, and whose others take 1 us.
class InterruptedOnce final : public CpuDevice {
 public:
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override {
    Timing timing = CpuDevice::time_batch(rotation, repeats);
    if (rotation.size() == 1 && repeats == 1)
      timing.seconds = single_launches_++ == 0 ? 1e-2 : 1e-6;
    return timing;
  }

 private:
  int single_launches_ = 0;
};

TEST(Measure, AnInterruptedLaunchDoesNotEndTheRotation) {
  InterruptedOnce device;
  const MadeUpCase made_up(device);
  EXPECT_GT(Measurer(device, Fill::normal, 1).measure(made_up.get(), 0.1, nullptr).sets, 100);
}

TEST(Measure, ATechniqueWithoutTheFormatIsSkipped) {
  SimulatedDevice device{Simulation{}};
  const MadeUpCase made_up(device);
  Case c = made_up.get();
  c.implementation = nullptr;
  EXPECT_THAT(reason_of(measure(device, c), Status::skipped), HasSubstr("does not serve"));
}

TEST(Measure, UnsupportedIsSkippedWithItsReason) {
  SimulatedDevice device{Simulation{}};
  MadeUpCase in_bind(device);
  in_bind.implementation.bind = [](auto&&...) -> Launch { throw Unsupported("n is odd"); };
  EXPECT_EQ(reason_of(measure(device, in_bind.get()), Status::skipped), "n is odd");
  MadeUpCase in_prepare(device);
  in_prepare.implementation.prepare = [](auto&&...) -> Plan { throw Unsupported("no AMX"); };
  EXPECT_EQ(reason_of(measure(device, in_prepare.get()), Status::skipped), "no AMX");
}

TEST(Measure, TooLittleMemoryIsSkippedWithTheBytes) {
  SimulatedDevice device(parse_simulation("memory=5000"));
  const MadeUpCase made_up(device);
  EXPECT_THAT(reason_of(measure(device, made_up.get()), Status::skipped),
              AllOf(HasSubstr("needs "), HasSubstr("5000 bytes are free")));
}

TEST(Measure, WithTooLittleMemoryARowIsTriedOnceMoreWithoutTheBuffersOfOthers) {
  SimulatedDevice device{Simulation{}};
  Measurer measurer(device, Fill::normal, 0);
  MadeUpCase made_up(device);
  const auto measured = [&] { return measurer.measure(made_up.get(), kNoBudget, nullptr); };
  int tries = 0;
  int of_them_without = 1;
  made_up.implementation.prepare = [&](auto&&...) -> Plan {
    if (++tries <= of_them_without) throw OutOfMemory(2000, 1000);
    return nullptr;
  };
  EXPECT_EQ(measured().status, Status::skipped) << "no others yet, so nothing to free";
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(measured().status, Status::ok);
  tries = 0;
  EXPECT_EQ(measured().status, Status::ok);
  EXPECT_EQ(tries, 2);
  of_them_without = 9;
  tries = 0;
  EXPECT_THAT(reason_of(measured(), Status::skipped), HasSubstr("needs 2000"));
  EXPECT_EQ(tries, 2);
}

TEST(Measure, AnExceptionIsAFailureWithItsText) {
  const auto launch = [](const float*, float*, std::int64_t) {
    throw std::runtime_error("illegal instruction");
  };
  EXPECT_EQ(reason_of(measure(launch), Status::failed), "illegal instruction");
  SimulatedDevice device{Simulation{}};
  MadeUpCase in_bind(device);
  in_bind.implementation.bind = [](auto&&...) -> Launch { throw std::logic_error("no handle"); };
  EXPECT_EQ(reason_of(measure(device, in_bind.get()), Status::failed), "no handle");
}

TEST(Measure, AWrongResultIsFoundBeforeTiming) {
  const auto kernel = [](const float* x, float* y, std::int64_t n) {
    MadeUpCase::copy(x, y, n);
    y[n - 1] += 1;
  };
  const Record record = measure(kernel);
  EXPECT_THAT(reason_of(record, Status::wrong), HasSubstr("before timing"));
  EXPECT_TRUE(record.samples_s.empty());
  EXPECT_GT(record.verify->error, 1);
}

TEST(Measure, AnElementLeftUnwrittenIsFound) {
  const auto kernel = [](const float* x, float* y, std::int64_t n) {
    MadeUpCase::copy(x, y, n - 1);
  };
  EXPECT_THAT(reason_of(measure(kernel), Status::wrong), HasSubstr("before timing"));
}

TEST(Measure, AResultThatGoesWrongLaterIsFound) {
  const auto kernel = [calls = std::make_shared<int>(0)](const float* x, float* y, std::int64_t n) {
    MadeUpCase::copy(x, y, n);
    if (++*calls > 1) y[0] += 1;
  };
  EXPECT_THAT(reason_of(measure(kernel), Status::wrong), HasSubstr("after timing"));
}

// What its first launches wrote would pass as the result of all others.
TEST(Measure, AKernelThatStopsComputingIsFound) {
  for (const bool order_dependent : {false, true}) {
    const auto kernel = [launches = std::make_shared<std::map<float*, int>>()](
                            const float* x, float* y, std::int64_t n) {
      if (++(*launches)[y] <= 2) MadeUpCase::copy(x, y, n);
    };
    EXPECT_THAT(reason_of(measure(kernel, order_dependent), Status::wrong),
                HasSubstr("does not compute in each launch"));
  }
}

TEST(Measure, AnExceptionOfAnyTypeIsAFailure) {
  const auto kernel = [](const float* /*x*/, float* /*y*/, std::int64_t /*n*/) { throw 3; };
  EXPECT_THAT(reason_of(measure(kernel), Status::failed), HasSubstr("not a std::exception"));
}

TEST(Measure, EveryBufferSetIsChecked) {
  const auto kernel = [sets = std::make_shared<std::vector<float*>>()](const float* x, float* y,
                                                                       std::int64_t n) {
    if (std::ranges::find(*sets, y) == sets->end()) sets->push_back(y);
    MadeUpCase::copy(x, y, n);
    if (sets->size() > 4 && y == (*sets)[4]) y[n - 1] = x[n - 1] + 1;  // the fifth set only
  };
  EXPECT_THAT(reason_of(measure(kernel), Status::wrong), HasSubstr("after timing"));
}

// The outputs are within the tolerance but differ between launches.
TEST(Measure, AResultThatMovesIsWrongUnlessTheTechniqueMayReorderItsSums) {
  const auto racing = [] {
    return [calls = std::make_shared<int>(0)](const float* x, float* y, std::int64_t n) {
      MadeUpCase::copy(x, y, n);
      if (++*calls > 1) y[0] = std::nextafter(y[0], 10.0F);
    };
  };
  EXPECT_THAT(reason_of(measure(racing()), Status::wrong), HasSubstr("the result moves"));
  EXPECT_EQ(measure(racing(), true).status, Status::ok);
}

TEST(Measure, AWriteOutsideTheOutputIsWrong) {
  for (const std::int64_t at : {-1, 1000}) {
    const auto kernel = [=](const float* x, float* y, std::int64_t n) {
      MadeUpCase::copy(x, y, n);
      y[at] = 0;
    };
    EXPECT_THAT(reason_of(measure(kernel), Status::wrong), HasSubstr("outside its output"));
  }
}

TEST(Measure, AWriteOutsideByTheFirstLaunchAloneIsWrong) {
  const auto calls = std::make_shared<int>(0);
  const auto kernel = [=](const float* x, float* y, std::int64_t n) {
    MadeUpCase::copy(x, y, n);
    if (++*calls == 1) y[n] = 0;
  };
  EXPECT_THAT(reason_of(measure(kernel), Status::wrong), HasSubstr("outside its output"));
}

TEST(Measure, ALostDeviceAndAnInterruptEndTheRun) {
  SimulatedDevice device(parse_simulation("lose=2"));
  const MadeUpCase made_up(device);
  EXPECT_THROW(measure(device, made_up.get()), DeviceError);
  Measurer measurer(device, Fill::normal, 1);
  EXPECT_THROW(measurer.measure(made_up.get(), kNoBudget, [] { return true; }), Interrupted);
}

TEST(Measure, OneFailingRowLeavesTheNextOneAlone) {
  SimulatedDevice device{Simulation{}};
  Measurer measurer(device, Fill::normal, 1);
  MadeUpCase failing(device);
  failing.implementation.bind = [](auto&&...) -> Launch { throw std::logic_error("no handle"); };
  const MadeUpCase right(device);
  EXPECT_EQ(measurer.measure(failing.get(), kNoBudget, nullptr).status, Status::failed);
  EXPECT_EQ(measurer.measure(right.get(), kNoBudget, nullptr).status, Status::ok);
}

}  // namespace
}  // namespace ridgebench
