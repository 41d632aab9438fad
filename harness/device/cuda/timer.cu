#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/base/statistics.hpp"
#include "harness/base/ungated.hpp"
#include "harness/device/cuda/graph.cuh"
#include "harness/device/cuda/nvtx_range.cuh"
#include "harness/device/cuda/timer.cuh"
#include "kernels/common/cuda/ptx/special_registers.cuh"

namespace ridgebench {
namespace {

using cuda::check;
using cuda::globaltimer;
using cuda::smid;
// Launches after which the host opens the gate: enough that the device never waits for the host,
// and few enough that their kernels fit into a stream's queue of about a thousand.
constexpr std::int64_t kLaunchesBehindGate = 2;
constexpr long long kGateNanoseconds = 1'000'000'000;

// True if launches wait behind a gate. They cannot where a tool runs kernels one at a time.
bool gated() {
  static const bool result = std::getenv(kUngatedVariable) == nullptr;
  return result;
}

// Repetitions of a timing. Under such a tool a launch takes long, and its time is not a
// measurement.
int repetitions(int count) { return gated() ? count : count / 100; }

__global__ void wait_at_gate(const volatile unsigned* open, unsigned gate, unsigned* timed_out) {
  const long long start = globaltimer();
  while (*open < gate) {
    if (globaltimer() - start > kGateNanoseconds) {
      *timed_out = 1;
      return;
    }
  }
}

__global__ void empty() {}

__global__ void spin(long long nanoseconds) {
  const long long start = globaltimer();
  while (globaltimer() - start < nanoseconds) {
  }
}

__global__ void write_stamp(ClockStamp* stamps) {
  stamps[blockIdx.x] = {smid(), clock64(), globaltimer()};
}

template <class T>
std::shared_ptr<T> shared_with_device(std::size_t count) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped));
  std::fill_n(static_cast<T*>(memory), count, T{});
  return {static_cast<T*>(memory), [](T* p) { static_cast<void>(cudaFreeHost(p)); }};
}

CudaEvent make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event));
  return CudaEvent(event);
}

}  // namespace

// Opens the gate even if enqueueing throws: a closed gate would block the stream.
class CudaTimer::GateOpener {
 public:
  explicit GateOpener(CudaTimer& timer) : timer_(&timer) {}
  GateOpener(const GateOpener&) = delete;  // opens once
  GateOpener& operator=(const GateOpener&) = delete;
  ~GateOpener() { open(); }
  void open() { timer_->open_gate(); }

 private:
  CudaTimer* timer_;
};

CudaTimer::CudaTimer(cudaStream_t stream, int sms)
    : stream_(stream),
      sms_(sms),
      shared_(shared_with_device<Shared>(1)),
      stamps_(shared_with_device<ClockStamp>(kBatches * 2 * static_cast<std::size_t>(sms))) {
  for (Events& events : events_) events = {make_event(), make_event(), make_event()};
  // The first launch of a kernel loads it and waits for the device, which a closed gate would
  // block.
  if (gated()) wait_at_gate<<<1, 1, 0, stream_>>>(&shared_->open, gate_, shared_->timed_out.data());
  write_stamp<<<sms_, 1, 0, stream_>>>(stamps_.get());
  empty<<<1, 1, 0, stream_>>>();
  spin<<<1, 1, 0, stream_>>>(1);
  check(cudaGetLastError());
  check(cudaStreamSynchronize(stream_));
}

void CudaTimer::enqueue(std::span<const Launch> launches, std::int64_t repeats,
                        GateOpener& gate) const {
  const NvtxRange range(range_);
  std::int64_t enqueued = 0;
  for (std::int64_t i = 0; i < repeats; ++i) {
    for (const Launch& launch : launches) {
      launch();
      if (++enqueued == kLaunchesBehindGate) gate.open();
    }
  }
}

std::span<ClockStamp> CudaTimer::stamps(std::size_t batch) const {
  const std::size_t count = 2 * static_cast<std::size_t>(sms_);
  return {stamps_.get() + batch * count, count};
}

std::size_t CudaTimer::start(std::span<const Launch> launches, std::int64_t repeats,
                             const Launch& before) {
  const std::size_t batch = next_;
  next_ = (next_ + 1) % kBatches;
  const Events& events = events_[batch];
  ++gate_;
  shared_->timed_out[batch] = 0;
  {
    GateOpener gate(*this);
    if (gated()) {
      wait_at_gate<<<1, 1, 0, stream_>>>(&shared_->open, gate_, &shared_->timed_out[batch]);
    }
    if (before) before();
    write_stamp<<<sms_, 1, 0, stream_>>>(stamps(batch).data());
    check(cudaEventRecord(events.start.get(), stream_));
    enqueue(launches, repeats, gate);
    check(cudaEventRecord(events.stop.get(), stream_));
    write_stamp<<<sms_, 1, 0, stream_>>>(stamps(batch).data() + sms_);
    check(cudaEventRecord(events.done.get(), stream_));
  }
  check(cudaGetLastError());
  return batch;
}

Timing CudaTimer::wait(std::size_t batch) {
  const Events& events = events_[batch];
  check(cudaEventSynchronize(events.done.get()));
  check(cudaGetLastError());
  if (shared_->timed_out[batch] != 0) {
    throw std::runtime_error(std::string("the launches took more than 1 s to enqueue; under a tool "
                                         "that runs kernels one at a time set ") +
                             kUngatedVariable + "=1");
  }
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, events.start.get(), events.stop.get()));
  return {milliseconds * 1e-3, clock_hz(batch)};
}

std::vector<double> CudaTimer::time_turns(std::span<const Turn> turns) {
  std::vector<CudaEvent> events;
  events.push_back(make_event());
  check(cudaEventRecord(events.back().get(), stream_));
  for (const Turn& turn : turns) {
    for (std::int64_t i = 0; i < turn.launches; ++i) (*turn.launch)();
    events.push_back(make_event());
    check(cudaEventRecord(events.back().get(), stream_));
  }
  check(cudaGetLastError());
  check(cudaStreamSynchronize(stream_));
  std::vector<double> seconds;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, events[i].get(), events[i + 1].get()));
    seconds.push_back(milliseconds * 1e-3);
  }
  return seconds;
}

// Cycles over time between two stamps of the same SM; the median SM's.
std::optional<double> CudaTimer::clock_hz(std::size_t batch) const {
  std::vector<double> clocks;
  const std::span<const ClockStamp> all = stamps(batch);
  const auto later = all.subspan(static_cast<std::size_t>(sms_));
  for (const ClockStamp& before : all.first(later.size())) {
    const auto after = std::ranges::find(later, before.sm, &ClockStamp::sm);
    if (after == later.end()) continue;
    const double seconds = static_cast<double>(after->nanoseconds - before.nanoseconds) * 1e-9;
    if (seconds < kShortestClockWindow) continue;
    clocks.push_back(static_cast<double>(after->cycles - before.cycles) / seconds);
  }
  if (clocks.empty()) return std::nullopt;
  return middle(clocks);
}

double CudaTimer::tick_s() {
  std::vector<double> times;
  for (int i = 0; i < repetitions(400); ++i) {
    const Launch wait = [this, i] { spin<<<1, 1, 0, stream_>>>(1000 + 37 * i); };
    times.push_back(time({&wait, 1}, 1).seconds);
  }
  std::ranges::sort(times);
  constexpr double same = 1e-9;  // a smaller step is rounding: the time is a float of milliseconds
  double smallest = 1e-6;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double step = times[i] - times[i - 1];
    if (step > same) smallest = std::min(smallest, step);
  }
  return smallest;
}

double CudaTimer::launch_gap_s() {
  const int count = repetitions(2000);
  const Launch launch = [this] { empty<<<1, 1, 0, stream_>>>(); };
  time({&launch, 1}, count);  // the first batch is slower
  return time({&launch, 1}, count).seconds / count;
}

double CudaTimer::graph_gap_s() {
  const int count = repetitions(2000);
  const Launch launch = [this] { empty<<<1, 1, 0, stream_>>>(); };
  const CudaGraphExec graph = capture(stream_, {&launch, 1}, count);
  const Launch all = [&] { check(cudaGraphLaunch(graph.get(), stream_)); };
  time({&all, 1}, 1);
  return time({&all, 1}, 1).seconds / count;
}

}  // namespace ridgebench
