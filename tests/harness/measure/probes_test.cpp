#include "harness/measure/probing/probes.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <numeric>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "harness/measure/measurer.hpp"
#include "harness/measure/probing/kept_bits.hpp"
#include "tests/support/made_up_case.hpp"

namespace ridgebench {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRunsOfACheat = 100;  // each cheat is caught in all of them
constexpr std::int64_t kNumbers = 2000;

// Units of work that kernels of these tests did. The clock counts them, and nothing else.
std::int64_t g_work = 0;

class CountedWork : public CpuDevice {
 public:
  static constexpr double kUnit_s = 1e-11;
  static constexpr double kCase_s = 2e-4;

  // Small caches are soon evicted.
  explicit CountedWork(double unit_s = kUnit_s) : unit_s_(unit_s) {
    machine_.caches = {{.level = 1, .bytes = 16 << 10, .shared_by = machine_.units}};
  }
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override {
    const std::int64_t before = g_work;
    CpuDevice::time_batch(rotation, repeats);
    const double seconds = unit_s_ * static_cast<double>(g_work - before);
    now_s_ += seconds;
    return {seconds, std::nullopt};
  }
  [[nodiscard]] double now_s() const override { return now_s_; }
  [[nodiscard]] double tick_s() const override { return unit_s_ / 100; }

 private:
  double unit_s_;
  double now_s_ = 0;
};

// A GPU by the same clock. Work of its other stream runs when the next batch begins.
class CountedGpu final : public CountedWork {
 public:
  // The batches of a GPU take milliseconds.
  static constexpr double kCase_s = 100 * CountedWork::kCase_s;
  CountedGpu() : CountedWork(100 * kUnit_s) {}
  [[nodiscard]] bool asynchronous() const override { return true; }
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override {
    end_other_stream();
    return CountedWork::time_batch(rotation, repeats);
  }
  void run(const Launch& launch) override {
    end_other_stream();
    CountedWork::run(launch);
  }
  void end_other_stream() {
    for (const auto& work : std::exchange(other_stream, {})) work();
  }
  std::vector<std::function<void()>> other_stream;
};

void compute(const float* x, float* y, std::int64_t n) {
  g_work += 100 * n;
  std::copy_n(x, n, y);
}

void return_early() { g_work += 50; }

using Kernel = MadeUpCase::Kernel;
// Makes a kernel without memories of an earlier run.
using Maker = std::function<Kernel()>;

template <class CountedDevice = CountedWork>
Record measured(const Kernel& kernel, Regime regime = Regime::steady,
                double seconds = CountedDevice::kCase_s) {
  static CountedDevice device;  // it takes long to open one
  MadeUpCase made_up(device, kernel, kNumbers);
  made_up.implementation.calls_back = true;
  return Measurer(device, Fill::normal, 1).measure(made_up.get(regime), seconds, nullptr);
}

struct Cheat {
  const char* name;
  Maker make;
  Status status;
  const char* reason;
};

void PrintTo(const Cheat& cheat, std::ostream* out) { *out << cheat.name; }

Kernel already_right() {
  return [](const float* x, float* y, std::int64_t n) {
    if (!std::isnan(y[0]) && !std::isnan(y[n - 1])) return return_early();
    compute(x, y, n);
  };
}

// All buffer sets share the kernel's memory.
template <class F>
Kernel with_memory(F kernel) {
  return [shared = std::make_shared<F>(std::move(kernel))](const float* x, float* y,
                                                           std::int64_t n) { (*shared)(x, y, n); };
}

// Keeps an answer for each key.
template <class Key>
Kernel memory_by(Key key) {
  return with_memory([key, known = std::map<decltype(key(nullptr, 0)), std::vector<float>>()](
                         const float* x, float* y, std::int64_t n) mutable {
    std::vector<float>& answer = known[key(x, n)];
    if (answer.empty()) {
      compute(x, y, n);
      answer.assign(y, y + n);
    } else {
      g_work += n;
      std::ranges::copy(answer, y);
    }
  });
}

Kernel memory_by_address() {
  return memory_by([](const float* x, std::int64_t) { return x; });
}

Kernel memory_by_three_values() {
  return memory_by([](const float* x, std::int64_t n) {
    return x == nullptr ? std::array<float, 3>() : std::array{x[0], x[n / 2], x[n - 1]};
  });
}

Kernel memory_by_content() {
  return memory_by([](const float* x, std::int64_t n) { return std::vector<float>(x, x + n); });
}

// Returns if the answer of these inputs is there. It is right in each launch, also where the output
// was filled with NaN or other inputs were written.
Kernel already_right_for_inputs() {
  return with_memory([last = std::map<const float*, std::vector<float>>()](const float* x, float* y,
                                                                           std::int64_t n) mutable {
    std::vector<float>& answered = last[x];
    if (!std::isnan(y[0]) && !std::isnan(y[n - 1]) &&
        std::equal(answered.begin(), answered.end(), x, x + n)) {
      return return_early();
    }
    compute(x, y, n);
    answered.assign(x, x + n);
  });
}

Kernel first_launch_only() {
  return with_memory(
      [seen = std::map<const float*, int>()](const float* x, float* y, std::int64_t n) mutable {
        if (seen[x]++ > 0) return return_early();
        compute(x, y, n);
      });
}

// Leaves out one launch of `every`.
Kernel leaving_out(int every) {
  return with_memory([every, launches = 0](const float* x, float* y, std::int64_t n) mutable {
    if (++launches % every == 0) return return_early();
    compute(x, y, n);
  });
}

Kernel one_launch_late() {
  struct Work {
    const float* x = nullptr;
    float* y = nullptr;
  };
  return with_memory([left = Work()](const float* x, float* y, std::int64_t n) mutable {
    if (left.x != nullptr && left.x != x) compute(left.x, left.y, n);
    if (left.x == nullptr || left.x == x) compute(x, y, n);
    left = {x, y};
  });
}

Kernel overwriting() {
  return [](const float* x, float* y, std::int64_t n) {
    const_cast<float*>(x)[n / 2] = 0;
    compute(x, y, n);
  };
}

class Cheats : public ::testing::TestWithParam<Cheat> {};

template <class CountedDevice>
void expect_caught(const Cheat& cheat, int runs) {
  for (int run = 0; run < runs; ++run) {
    const Record record = measured<CountedDevice>(cheat.make());
    ASSERT_EQ(record.status, cheat.status) << record.reason.value_or("ok") << ", run " << run;
    EXPECT_THAT(*record.reason, HasSubstr(cheat.reason));
    EXPECT_FALSE(record.time);
  }
}

TEST_P(Cheats, AreCaughtEachTime) { expect_caught<CountedWork>(GetParam(), kRunsOfACheat); }

TEST_P(Cheats, AreCaughtOnTheModelOfAGpu) {
  expect_caught<CountedGpu>(GetParam(), kRunsOfACheat / 10);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Cheats,
    ::testing::Values(
        Cheat{"already_right", already_right, Status::wrong, "does not compute in each launch"},
        Cheat{"by_address", memory_by_address, Status::wrong, "on new values of"},
        Cheat{"by_three_values", memory_by_three_values, Status::wrong, "on new values of"},
        Cheat{"by_content", memory_by_content, Status::suspect, "launches on new inputs take"},
        Cheat{"already_right_for_inputs", already_right_for_inputs, Status::suspect,
              "launches on new inputs take"},
        Cheat{"first_launch_only", first_launch_only, Status::wrong, ""},
        Cheat{"every_second", [] { return leaving_out(2); }, Status::wrong, ""},
        Cheat{"two_of_three", [] { return leaving_out(3); }, Status::wrong, ""},
        Cheat{"one_launch_late", one_launch_late, Status::wrong, ""},
        Cheat{"overwriting", overwriting, Status::wrong, "wrote to an input"}),
    [](const auto& cheat) { return std::string(cheat.param.name); });

TEST(Probes, CatchEveryColdCheat) {
  for (int run = 0; run < kRunsOfACheat / 5; ++run) {
    const Record record = measured(already_right(), Regime::cold);
    ASSERT_EQ(record.status, Status::wrong) << record.reason.value_or("ok");
  }
}

TEST(Probes, PassHonestKernels) {
  for (const Regime regime : {Regime::steady, Regime::cold, Regime::warm}) {
    for (int run = 0; run < kRunsOfACheat; ++run) {
      const Record record = measured(compute, regime);
      ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
      EXPECT_EQ(record.verify->probes->compared, 8);
      EXPECT_THAT(record.flags, Not(Contains(AnyOf("few_probes", "fixed_answer", "fixed_inputs"))));
    }
  }
}

// The kernel keeps its first answer, and x has as large a share in the right one. Below the
// rounding of fp32, no comparison can find that.
Record measured_with_share(float share) {
  CountedWork device;
  const auto kernel = [memory = memory_by_address(), share](const float* x, float* y,
                                                            std::int64_t n) {
    memory(x, y, n);
    for (float& value : std::span(y, static_cast<std::size_t>(n))) value = 1 + share * value;
  };
  MadeUpCase made_up(device, kernel, kNumbers);
  made_up.implementation.calls_back = true;
  made_up.operation.reference = [identity = made_up.operation.reference, share](
                                    const Shape& shape, std::int64_t row, std::span<const View> in,
                                    std::span<Expected> out) {
    identity(shape, row, in, out);
    for (Expected& e : out) e = {1 + share * e.value, 1};
  };
  return Measurer(device, Fill::normal, 1).measure(made_up.get(), 2e-4, nullptr);
}

TEST(Probes, FlagAnAnswerThatNewInputsDoNotMove) {
  for (const float share : {0.0F, 1e-9F}) {
    const Record record = measured_with_share(share);
    ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
    EXPECT_THAT(record.flags, Contains("fixed_answer"));
  }
  EXPECT_EQ(measured_with_share(1e-3F).status, Status::wrong);
}

TEST(Probes, FlagInputsBesidesTheOperands) {
  CountedWork device;
  MadeUpCase made_up(device, compute, kNumbers);
  made_up.implementation.calls_back = true;
  const auto operands = [](const Shape& s) { return 8.0 * static_cast<double>(s["n"]); };
  for (const double more : {0.0, 4.0}) {
    made_up.operation.traffic = [=](const Shape& s, FormatPair) { return operands(s) + more; };
    const Record record = Measurer(device, Fill::normal, 1).measure(made_up.get(), 2e-4, nullptr);
    ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
    EXPECT_EQ(std::ranges::count(record.flags, "fixed_inputs"), more > 0 ? 1 : 0);
  }
}

// The first launch, which builds a table, takes long. The others do the same work each time.
TEST(Probes, PassAKernelThatPreparesItselfInItsFirstLaunch) {
  const Record record =
      measured([table = std::vector<float>()](const float* x, float* y, std::int64_t n) mutable {
        if (table.empty()) g_work += 10000 * n;
        table.resize(10, 1);
        compute(x, y, n);
      });
  EXPECT_EQ(record.status, Status::ok) << record.reason.value_or("");
}

class WatchesMemory final : public CountedWork {
 public:
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override {
    const Timing timing = CountedWork::time_batch(rotation, repeats);
    used = false;
    return timing;
  }
  [[nodiscard]] DeviceMemory& memory() override {
    used = true;
    return CountedWork::memory();
  }
  static inline bool used = false;
};

// Launches after any use of the memory take eleven times as long, whatever was written: more than
// the factor of a small rotation.
TEST(Probes, PassAKernelThatOnlyWritingSlowsDown) {
  const Record record = measured<WatchesMemory>([](const float* x, float* y, std::int64_t n) {
    g_work += WatchesMemory::used ? 1000 * n : 0;
    compute(x, y, n);
  });
  EXPECT_EQ(record.status, Status::ok) << record.reason.value_or("");
  ASSERT_TRUE(record.verify && record.verify->probes);
  EXPECT_FALSE(record.verify->probes->old_inputs_s.empty()) << "times were compared";
}

class EmptiesCaches final : public CountedWork {
 public:
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override {
    const Timing timing = CountedWork::time_batch(rotation, repeats);
    caches_empty = false;
    return timing;
  }
  Timing time_cold(const Launch& launch) override {
    const Timing timing = CountedWork::time_cold(launch);
    caches_empty = true;
    return timing;
  }
  static inline bool caches_empty = false;
};

// Its streaming stores wait for the lines of the output that a probe left in the caches.
TEST(Probes, PassAKernelThatWaitsForTheLinesOfItsOutput) {
  const Record record = measured<EmptiesCaches>([](const float* x, float* y, std::int64_t n) {
    const bool waits = std::isnan(y[0]) && !EmptiesCaches::caches_empty;
    g_work += waits ? 1000 * n : 0;
    compute(x, y, n);
  });
  EXPECT_EQ(record.status, Status::ok) << record.reason.value_or("");
}

// Hands its work to a thread, which does it when the next launch begins.
class LateThread {
 public:
  void launch(const float* x, float* y, std::int64_t n) {
    end();
    g_work += 100 * n;
    begin_ = std::promise<void>();
    thread_ = std::jthread([=, begun = begin_.get_future()] {
      begun.wait();
      std::copy_n(x, n, y);
    });
  }
  void end() {
    if (!thread_.joinable()) return;
    begin_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> begin_;
  std::jthread thread_;
};

TEST(Probes, CatchAThreadThatOutlivesItsLaunch) {
  LateThread late;
  int launches = 0;
  CountedWork device;
  MadeUpCase made_up(
      device,
      [&](const float* x, float* y, std::int64_t n) {
        // The checks before the timing see right launches.
        ++launches <= 4 ? compute(x, y, n) : late.launch(x, y, n);
      },
      kNumbers);
  made_up.implementation.calls_back = true;
  Measurer measurer(device, Fill::normal, 1);
  const Record record = measurer.measure(made_up.get(), 2e-4, nullptr);
  late.end();  // while the buffers exist
  EXPECT_EQ(record.status, Status::wrong) << record.reason.value_or("ok");
  EXPECT_THAT(record.reason.value_or("ok"), HasSubstr("a launch on new values"));
}

// The GPU is a model: not run on a GPU.
TEST(Probes, CatchWorkInAnotherStream) {
  CountedGpu device;
  int launches = 0;
  MadeUpCase made_up(
      device,
      [&](const float* x, float* y, std::int64_t n) {
        if (++launches <= 4) return compute(x, y, n);
        g_work += 100 * n;
        device.other_stream.emplace_back([=] { std::copy_n(x, n, y); });
      },
      kNumbers);
  made_up.implementation.calls_back = true;
  Measurer measurer(device, Fill::normal, 1);
  const Record record = measurer.measure(made_up.get(), CountedGpu::kCase_s, nullptr);
  device.end_other_stream();  // while the buffers exist
  EXPECT_EQ(record.status, Status::wrong) << record.reason.value_or("ok");
}

TEST(Probes, AreTwoForAKernelOfTheSuite) {
  CountedWork device;
  const MadeUpCase made_up(device, compute, kNumbers);
  const Record record = Measurer(device, Fill::normal, 1).measure(made_up.get(), 2e-4, nullptr);
  ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
  EXPECT_EQ(record.verify->probes->compared, 2);
}

// The ceiling that it launches again had its probes.
TEST(Probes, AreNoneForAControl) {
  CountedWork device;
  const MadeUpCase made_up(device, compute, kNumbers);
  Case control = made_up.get();
  control.control = true;
  const Record record = Measurer(device, Fill::normal, 1).measure(control, 2e-4, nullptr);
  ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
  EXPECT_FALSE(record.verify->probes);
  EXPECT_THAT(record.flags, Not(Contains("few_probes")));
}

// A tolerance that hides old results does not hide that their bits stay: x + 20 changes by less
// than 0.45 of itself.
TEST(Probes, CatchOldBitsWithinTheTolerance) {
  constexpr float kAdded = 20;
  CountedWork device;
  const auto plus = [memory = memory_by_address()](const float* x, float* y, std::int64_t n) {
    memory(x, y, n);
    for (float& value : std::span(y, static_cast<std::size_t>(n))) value += kAdded;
  };
  MadeUpCase made_up(device, plus, kNumbers);
  made_up.implementation.calls_back = true;
  made_up.implementation.technique.approximation_error = 0.45;
  made_up.operation.reference = [identity = made_up.operation.reference](
                                    const Shape& shape, std::int64_t row, std::span<const View> in,
                                    std::span<Expected> out) {
    identity(shape, row, in, out);
    for (Expected& e : out) e = {e.value + kAdded, std::abs(e.value + kAdded)};
  };
  const Record record = Measurer(device, Fill::normal, 1).measure(made_up.get(), 2e-4, nullptr);
  EXPECT_EQ(record.status, Status::wrong);
  EXPECT_THAT(record.reason.value_or("ok"), HasSubstr("keeps the bits of the old values"));
}

// A GeLU of -6 is -6e-9, and 0 in fp32: its terms are as large as 6. An element of 1 is no such
// case.
TEST(KeptBits, AreNoWonderWhereRoundingHidesTheChange) {
  CountedWork device;
  MadeUpCase made_up(device);
  const Case c = made_up.get();
  const auto outputs = outputs_of(*c.operation, c.shape, c.format);
  const std::vector<float> same(1000, 0);
  const View view{same.data(), Format::fp32};
  const std::vector<std::int64_t> row{0};
  const KeptBits kept(*c.implementation, c.shape, outputs, row, {&view, 1}, {&view, 1});
  ASSERT_TRUE(kept.any());
  const auto most_moved = [&](Expected of_new, Expected of_old) {
    const auto length = static_cast<std::size_t>(outputs.front().length_of(0));
    return kept.most_moved(std::vector(length, of_new), std::vector(length, of_old));
  };
  EXPECT_FALSE(most_moved({-6e-9, 6}, {-1e-9, 6}));
  EXPECT_TRUE(most_moved({1, 6}, {1.1, 6}));
}

TEST(KeptBits, CountWhatMovedByOutput) {
  CountedWork device;
  MadeUpCase made_up(device, MadeUpCase::copy, 64);
  const Case c = made_up.get();
  const auto outputs = outputs_of(*c.operation, c.shape, c.format);
  const std::vector<float> values(64);
  const View view{values.data(), Format::fp32};
  const std::vector<std::int64_t> row{0};
  const KeptBits kept(*c.implementation, c.shape, outputs, row, {&view, 1}, {&view, 1});
  const std::vector<Expected> before(64, {1, 1});
  for (const std::size_t moved : {0, 6, 7, 64}) {
    std::vector<Expected> after = before;
    std::fill_n(after.begin(), moved, Expected{2, 1});
    EXPECT_EQ(kept.moved_outputs(after, before), std::vector<bool>{moved > 6}) << moved;
  }
}

TEST(Probes, MoveZeros) {
  CountedWork device;
  MadeUpCase made_up(device, memory_by_address(), kNumbers);
  made_up.implementation.calls_back = true;
  const Record record = Measurer(device, Fill::zeros, 1).measure(made_up.get(), 2e-4, nullptr);
  EXPECT_EQ(record.status, Status::wrong) << "every probe of a run of zeros changes a block";
}

TEST(Probes, AreFewIfTheReferenceIsExpensive) {
  CountedWork device;
  MadeUpCase made_up(device, compute, kNumbers);
  made_up.implementation.calls_back = true;
  made_up.operation.reduction = [](const Shape&) { return 1e8; };
  const Record record = Measurer(device, Fill::normal, 1).measure(made_up.get(), 2e-4, nullptr);
  ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
  EXPECT_LT(record.verify->probes->compared, 8);
  EXPECT_THAT(record.flags, Contains("few_probes"));
}

TEST(NewInputs, ComeAndGo) {
  CountedWork device;
  const MadeUpCase made_up(device, compute, kNumbers);
  const Problem problem = made_up.get().problem();
  Buffers buffers(device, Fill::normal, 1);
  const auto sets = buffers.allocate(problem.operands, 3);
  buffers.reset();
  const auto content = [&](std::size_t set) {
    const auto* x = static_cast<const float*>(sets[set][0]);
    return std::vector<float>(x, x + kNumbers);
  };
  const std::vector<float> before = content(1);
  std::vector<HostBuffer> copies;
  std::vector<HostBuffer> saved;
  for (const Novelty novelty : {Novelty::fresh, Novelty::sparse}) {
    NewInputs inputs(device, buffers, problem, sets, {1, 2}, novelty, 7, saved);
    inputs.write();
    const std::vector<float> during = content(1);
    EXPECT_TRUE(std::isnan(*static_cast<const float*>(sets[2][1]))) << "the output is poisoned";
    inputs.restore();
    EXPECT_EQ(content(1), before);
    int changed = 0;
    for (std::size_t i = 0; i < before.size(); ++i) changed += before[i] != during[i] ? 1 : 0;
    EXPECT_GT(changed, novelty == Novelty::fresh ? 1900 : 32);
    EXPECT_LE(changed, novelty == Novelty::fresh ? kNumbers : 64);
    const auto rows = problem.all_rows();
    for (const auto& read : {rows, {rows.front(), rows.back()}}) {
      const View seen = inputs.new_views(1, read, copies).front();
      for (const ElementRange& range : elements_read(problem.operands.front(), read)) {
        for (std::int64_t i = range.first; i < range.end; ++i) {
          ASSERT_EQ(seen[i], during[static_cast<std::size_t>(i)]);
        }
      }
    }
  }
}

// Other rows of an operand that each row reads a part of keep their values.
TEST(NewInputs, AreComparedInRowsThatReadThem) {
  CountedWork device;
  const MadeUpCase made_up(device, compute, 1 << 20);
  const Problem problem = made_up.get().problem();
  Buffers buffers(device, Fill::normal, 1);
  const auto sets = buffers.allocate(problem.operands, 1);
  buffers.reset();
  const auto* const x = static_cast<const float*>(sets[0][0]);
  const std::vector<float> before(x, x + problem.elements);
  std::vector<HostBuffer> saved;
  for (const double affordable : {1e3, 1e9}) {  // of single rows, of all
    NewInputs inputs(device, buffers, problem, sets, {0, 1}, Novelty::sparse, 7, saved);
    inputs.write();
    const auto rows = inputs.rows_to_compare(affordable);
    EXPECT_EQ(rows.size() > 10, affordable > 1e6);
    for (const std::int64_t row : rows) {
      const auto first = row * problem.row_elements;
      EXPECT_FALSE(std::equal(x + first, x + first + problem.row_elements, before.data() + first));
    }
    inputs.restore();
  }
}

TEST(NewInputs, LeaveTheOutputsThatTheyWriteAgain) {
  CountedWork device;
  const MadeUpCase made_up(device, compute, kNumbers);
  const Problem problem = made_up.get().problem();
  Buffers buffers(device, Fill::normal, 1);
  const auto sets = buffers.allocate(problem.operands, 2);
  buffers.reset();
  auto* const y = static_cast<float*>(sets[1][1]);
  std::iota(y, y + kNumbers, 0.0F);
  std::vector<HostBuffer> saved;
  NewInputs inputs(device, buffers, problem, sets, {1, 1}, Novelty::fresh, 7, saved);
  inputs.write_inputs();
  inputs.restore();
  inputs.rewrite_outputs();
  for (std::int64_t i = 0; i < kNumbers; ++i) ASSERT_EQ(y[i], static_cast<float>(i));
  EXPECT_TRUE(buffers.guards_intact());
}

TEST(NewInputs, OfLaterProbesTakeNoNewMemory) {
  CountedWork device;
  const MadeUpCase made_up(device, compute, kNumbers);
  const Problem problem = made_up.get().problem();
  Buffers buffers(device, Fill::normal, 1);
  const auto sets = buffers.allocate(problem.operands, 3);
  buffers.reset();
  std::vector<HostBuffer> saved;
  std::vector<const std::byte*> before;
  for (const NewInputs::Sets chosen : {NewInputs::Sets{0, 2}, {1, 2}, {2, 1}}) {
    NewInputs inputs(device, buffers, problem, sets, chosen, Novelty::fresh, 7, saved);
    inputs.write();
    inputs.restore();
    std::vector<const std::byte*> places;
    for (const HostBuffer& buffer : saved) places.push_back(buffer.data());
    if (!before.empty()) {
      EXPECT_EQ(places, before);
    }
    before = places;
  }
  EXPECT_EQ(before.size(), 2);
}

}  // namespace
}  // namespace ridgebench
