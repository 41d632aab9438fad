#include "harness/device/cpu/device.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "harness/base/statistics.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/device/cpu/eviction.hpp"
#include "harness/device/cpu/free_memory.hpp"
#include "harness/device/cpu/info.hpp"
#include "harness/device/cpu/processor.hpp"
#include "harness/device/isolated/remote_launch.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/device/pages.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/isa_level.hpp"

namespace ridgebench {
namespace {

std::shared_ptr<void> map_memory(std::size_t bytes) {
  const auto mapped = static_cast<double>(mapped_bytes(bytes));
  const double free = allocatable_bytes();
  if (mapped > free) throw OutOfMemory(mapped, free);
  std::shared_ptr<void> pages = map_pages(bytes);
  if (pages == nullptr) throw OutOfMemory(mapped, free);
  return pages;
}

class CpuQueue final : public Queue {
 public:
  explicit CpuQueue(int threads) : threads_(threads) {}
  [[nodiscard]] int threads() const override { return threads_; }
  [[nodiscard]] std::shared_ptr<void> allocate(std::size_t bytes) override {
    return map_memory(bytes);
  }
  [[nodiscard]] double time(const Launch& launch) override {
    const Stopwatch clock;
    launch();
    return clock.seconds();
  }

 private:
  int threads_;
};

// Smallest step of the clock, in seconds.
double measure_tick() {
  double smallest = 1;
  for (int i = 0; i < 200; ++i) {
    const Stopwatch clock;
    double step = 0;
    while (step <= 0) step = clock.seconds();
    smallest = std::min(smallest, step);
  }
  return smallest;
}

// Median seconds of an empty parallel region. Threads that sleep between regions
// (OMP_WAIT_POLICY=passive) take a hundred times as long; the loop then takes fewer samples.
double measure_launch_floor(int threads) {
  constexpr double enough_s = 0.05;
  std::vector<double> samples;
  const Stopwatch total;
  while (samples.size() < 7 || (samples.size() < 101 && total.seconds() < enough_s)) {
    constexpr int batch = 100;
    const Stopwatch clock;
    for (int j = 0; j < batch; ++j) {
#pragma omp parallel num_threads(threads)
      {
        asm volatile("" ::: "memory");
      }
    }
    samples.push_back(clock.seconds() / batch);
  }
  return middle(samples);
}

}  // namespace

std::unique_ptr<Queue> make_cpu_queue(int threads) { return std::make_unique<CpuQueue>(threads); }

CpuDevice::CpuDevice() : cgroup_(Cgroup::own()), tick_s_(measure_tick()) {
  CacheInfo caches = host_caches();  // before this thread is bound to one processor
  processors_ = allowed_processors();
  const char* const asked = std::getenv("OMP_NUM_THREADS");
  threads_ = count_threads({.processors = static_cast<int>(processors_.size()),
                            .cpu_quota = cgroup_.cpu_quota(),
                            .asked = asked == nullptr ? std::nullopt : std::optional(asked),
                            .openmp = std::min(omp_get_max_threads(), omp_get_thread_limit())});
  const int threads = threads_.threads;
  omp_set_num_threads(threads);
  omp_set_dynamic(0);
  pinned_threads_ = pin_threads(threads, processors_);
  constexpr double flops_per_s_of_a_core = 5e10;
  cache_note_ = std::move(caches.note);
  machine_ = {.units = threads,
              .caches = std::move(caches.caches),
              .sve_bytes = host_sve_bytes(),
              .memory_bytes = host_memory().total_bytes,
              .flops_per_s_hint = threads * flops_per_s_of_a_core};
  queue_ = make_cpu_queue(threads);
  memory_ = std::make_unique<HostMemory>(threads);
  launch_floor_s_ = measure_launch_floor(threads);
}

std::vector<std::string> CpuDevice::notes() const {
  std::vector<std::string> notes;
  if (!threads_.note.empty()) notes.push_back(threads_.note);
  if (const std::string note = host_memory().note; !note.empty()) notes.push_back(note);
  if (!cache_note_.empty()) notes.push_back(cache_note_);
  return notes;
}

double CpuDevice::free_bytes() const { return allocatable_bytes(); }

// The threads of OpenMP end. This thread may run on any processor, because the other process pins
// threads of its own.
void CpuDevice::leave_processors() {
  if (std::exchange(pinned_, false)) allow_processors(processors_);
  omp_pause_resource_all(omp_pause_soft);
}

void CpuDevice::take_processors() {
  if (!std::exchange(pinned_, true)) pin_threads(machine_.units, processors_);
}

Timing CpuDevice::time_batch(std::span<const Launch> rotation, std::int64_t repeats) {
  if (remote(rotation) != nullptr) {
    leave_processors();
    return time_remote(rotation, repeats);
  }
  take_processors();
  const Stopwatch clock;
  for (std::int64_t i = 0; i < repeats; ++i) {
    for (const Launch& launch : rotation) launch();
  }
  return {clock.seconds(), std::nullopt};  // virtual machines report a nominal clock
}

std::vector<Meter> CpuDevice::meters() const {
  std::vector<Meter> meters{{kEnergyMeter, package_energy_j()}};
  const std::optional<double> throttled = cgroup_.throttled_periods();
  if (throttled) meters.push_back({kCpuThrottledMeter, throttled});  // none without a quota
  return meters;
}

// Reads 3 x the last-level cache. Reads leave no dirty lines, whose write-back would slow the
// launch.
void CpuDevice::evict_caches(bool isolated) {
  const auto bytes = static_cast<std::size_t>(machine_.evicting_bytes());
  if (!eviction_buffer_) {
    eviction_buffer_ = map_memory(bytes);
    std::memset(eviction_buffer_.get(), 1, bytes);
  }
  const auto* words = static_cast<const std::uint64_t*>(eviction_buffer_.get());
  const std::span<const std::uint64_t> all(words, bytes / sizeof *words);
  isolated ? read_by_new_threads(all, machine_.units, processors_)
           : read_by_team(all, machine_.units);
}

// The first command after the caches were emptied fetches the code of a command, and the second one
// is timed.
Timing CpuDevice::time_cold(const Launch& launch) {
  const bool isolated = remote({&launch, 1}) != nullptr;
  isolated ? leave_processors() : take_processors();
  evict_caches(isolated);
  if (isolated) wake_remote({&launch, 1});
  return time_batch({&launch, 1}, 1);
}

nlohmann::ordered_json CpuDevice::identity() const {
  nlohmann::ordered_json caches = nlohmann::ordered_json::array();
  for (const Cache& cache : machine_.caches) {
    caches.push_back(
        {{"level", cache.level}, {"bytes", cache.bytes}, {"shared_by", cache.shared_by}});
  }
  const Processor& processor = host_processor();
  nlohmann::ordered_json json{
      {"name", name()},
      {"backend", "cpu"},
      {"model", processor.model.empty() ? host_architecture() : processor.model},
      {"vendor", processor.vendor},
      {"isa", ridgebench::name(host_isa())},
      {"threads", machine_.units},
      {"threads_limited_by", threads_.limited_by},
      {"pinned", pinned_threads_ == machine_.units},
      {"cores", processors_.size()},
      {"caches", caches},
      {"memory_bytes", machine_.memory_bytes},
      {"huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
      {"event_tick_s", tick_s_},
      {"launch_floor_s", launch_floor_s_}};
  if (const auto quota = cgroup_.cpu_quota()) json["cpu_quota"] = *quota;
  if (const std::vector<std::string> all = notes(); !all.empty()) json["notes"] = all;
  return json;
}

namespace {

std::unique_ptr<Device> open_cpu(const std::string& text) {
  if (!text.empty()) throw UsageError("unknown device 'cpu:" + text + "'; allowed: cpu");
  if (const std::string wrong = wrong_isa(only_isa(), host_isa()); !wrong.empty()) {
    throw DeviceError(wrong);
  }
  return std::make_unique<CpuDevice>();
}

const RegisterDevices cpu_devices{{.name = "cpu", .open = open_cpu}};

}  // namespace
}  // namespace ridgebench
