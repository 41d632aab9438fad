#include <algorithm>
#include <utility>

#include "harness/device/cuda/driver.cuh"
#include "harness/device/cuda/graph.cuh"
#include "harness/device/cuda/identity.cuh"
#include "harness/device/cuda/memory.cuh"
#include "harness/device/cuda/queue.cuh"
#include "harness/device/cuda/telemetry.hpp"
#include "harness/device/cuda/timer.cuh"
#include "harness/device/isolated/gpu/memory.hpp"
#include "harness/device/isolated/remote_launch.hpp"
#include "harness/device/open_devices.hpp"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench {
namespace {

using cuda::check;
using nlohmann::ordered_json;

// Launches that are shorter than this, in gaps between launches, go through a graph
// (docs/method.md).
constexpr double kGapsOfAShortLaunch = 20;
// Bytes that one stream must move before the kernel uses a cache line again.
constexpr std::int64_t kRotationBytes = std::int64_t{2} << 30U;
// Seconds in which the power of a GPU settles under a tensor load.
constexpr double kTensorWarmUp = 0.5;

class CudaDevice final : public Device {
 public:
  // `text`: what --device names it.
  CudaDevice(int index, const std::string& text);

  [[nodiscard]] std::string name() const override { return "cuda:" + std::to_string(index_); }
  [[nodiscard]] Backend backend() const override { return Backend::cuda; }
  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] ordered_json identity() const override;
  [[nodiscard]] ordered_json state() const override {
    return nvml_ ? state_of(*nvml_) : Device::state();
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }
  [[nodiscard]] std::string data_sheet() const override {
    return sheet_ == nullptr ? std::string() : sheet_->name;
  }
  [[nodiscard]] Queue& queue() override {
    check(cudaSetDevice(index_));  // a run may alternate between devices
    return *queue_;
  }
  [[nodiscard]] double free_bytes() const override { return free_device_bytes(); }
  [[nodiscard]] DeviceMemory& memory() override { return *memory_; }
  [[nodiscard]] std::int64_t rotation_bytes() const override {
    return std::max(Device::rotation_bytes(), kRotationBytes);
  }
  [[nodiscard]] double tensor_warm_up_s() const override { return kTensorWarmUp; }
  [[nodiscard]] double tick_s() const override { return tick_s_; }
  [[nodiscard]] double launch_floor_s() const override { return graph_gap_s_; }

  void begin_case(const std::string& id) override;
  ordered_json end_case() override;
  [[nodiscard]] std::vector<Meter> meters() const override {
    return nvml_ ? meters_of(*nvml_) : std::vector<Meter>();
  }
  [[nodiscard]] std::optional<double> busy_share(const Launch& launch) override;
  [[nodiscard]] std::vector<CounterReading> energy_readings(double since_s) const override {
    return telemetry_ ? telemetry_->energy_readings(since_s) : std::vector<CounterReading>();
  }
  [[nodiscard]] std::vector<LoadReading> load_readings(double since_s) const override {
    return telemetry_ ? telemetry_->load_readings(since_s) : std::vector<LoadReading>();
  }
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override {
    if (remote(rotation) != nullptr) return time_remote(rotation, repeats);
    return start_batch(rotation, repeats)->wait();
  }
  [[nodiscard]] bool asynchronous() const override { return true; }
  std::unique_ptr<RunningBatch> start_batch(std::span<const Launch> rotation,
                                            std::int64_t repeats) override;
  [[nodiscard]] Early early(const Launch& launch) override {
    const bool isolated = remote({&launch, 1}) != nullptr;
    return isolated ? early_of_remote(launch) : early_of(stream_.get(), launch);
  }
  [[nodiscard]] std::shared_ptr<void> allocate_shared(std::size_t bytes, bool writable) override {
    return allocate_gpu_arena(index_, bytes, writable);
  }
  [[nodiscard]] MappedArena map_shared(int descriptor, std::size_t bytes, bool writable) override {
    return map_gpu_arena(index_, descriptor, bytes, writable);
  }
  [[nodiscard]] std::string why_not_isolated() override { return why_one_process(index_); }
  void wait_for_all() override { check(cudaDeviceSynchronize()); }
  Timing time_cold(const Launch& launch) override;
  void run(const Launch& launch) override;

 private:
  class Batch;
  int index_;
  std::vector<std::string> notes_;
  cudaDeviceProp properties_{};
  const DeviceSpec* sheet_ = nullptr;
  Machine machine_;
  CudaStream stream_;
  std::unique_ptr<CudaTimer> timer_;
  std::unique_ptr<CudaQueue> queue_;
  std::unique_ptr<CudaMemory> memory_;
  std::string no_nvml_;  // why NVML is not there
  std::unique_ptr<Nvml> nvml_;
  double tick_s_ = 0;
  double launch_gap_s_ = 0;
  double graph_gap_s_ = 0;
  std::shared_ptr<void> eviction_buffer_;
  // State of the present case:
  std::unique_ptr<Telemetry> telemetry_;
  std::optional<double> launch_s_;
  GraphCache graphs_;
};

CudaDevice::CudaDevice(int index, const std::string& text)
    : index_(index), notes_(notes_of_driver()) {
  check(cudaSetDevice(index));
  check(cudaGetDeviceProperties(&properties_, index));
  sheet_ = sheet_of(properties_);
  machine_ = machine_of(properties_, sheet_);
  for (int other = 0; other < find_cuda_devices().count; ++other) {
    if (other != index) machine_.peers.push_back(other);
  }
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  stream_.reset(stream);
  timer_ = std::make_unique<CudaTimer>(stream, machine_.units);
  queue_ = std::make_unique<CudaQueue>(text, stream, *timer_);
  memory_ = std::make_unique<CudaMemory>(stream);
  nvml_ = Nvml::open(uuid_text(properties_), no_nvml_);
  if (nvml_) queue_->watch_power(*nvml_);
  tick_s_ = timer_->tick_s();
  launch_gap_s_ = timer_->launch_gap_s();
  graph_gap_s_ = timer_->graph_gap_s();
}

void CudaDevice::begin_case(const std::string& id) {
  check(cudaSetDevice(index_));
  queue_->forget_cache_policy();
  timer_->set_range(id);
  launch_s_.reset();
  if (nvml_) telemetry_ = std::make_unique<Telemetry>(*nvml_);
}

std::optional<double> CudaDevice::busy_share(const Launch& launch) {
  if (remote({&launch, 1}) != nullptr) return busy_share_of_remote(launch);
  const std::optional<unsigned> blocks = thread_blocks(stream_.get(), launch);
  if (!blocks) return std::nullopt;
  return std::min(1.0, static_cast<double>(*blocks) / machine_.units);
}

ordered_json CudaDevice::end_case() {
  timer_->set_range("");
  graphs_.clear();
  if (!telemetry_) return {{"unavailable", no_nvml_}};
  return std::exchange(telemetry_, nullptr)->stop();
}

class CudaDevice::Batch final : public RunningBatch {
 public:
  // `scale` turns the time of all launches into that of those that count. Launches without a graph
  // tell the device whether later ones need one.
  Batch(CudaDevice& device, std::size_t number, double scale, double launches_without_graph)
      : device_(&device), number_(number), scale_(scale), launches_(launches_without_graph) {}
  ~Batch() override {  // the launches use buffers that the caller may free
    if (!waited_) static_cast<void>(cudaStreamSynchronize(device_->stream_.get()));
  }
  Timing wait() override {
    Timing timing = device_->timer_->wait(number_);
    waited_ = true;
    timing.seconds *= scale_;
    const double launch_s = timing.seconds / launches_;
    if (launches_ > 0) device_->launch_s_ = std::min(device_->launch_s_.value_or(1e9), launch_s);
    return timing;
  }

 private:
  CudaDevice* device_;
  std::size_t number_;
  double scale_;
  double launches_;
  bool waited_ = false;
};

std::unique_ptr<RunningBatch> CudaDevice::start_batch(std::span<const Launch> rotation,
                                                      std::int64_t repeats) {
  if (remote(rotation) != nullptr) return Device::start_batch(rotation, repeats);
  if (!rotation.empty() && launch_s_ && *launch_s_ < kGapsOfAShortLaunch * launch_gap_s_) {
    const GraphCache::Graph& graph = graphs_.graph_for(stream_.get(), rotation, repeats);
    if (graph.executable) {
      const std::int64_t graphs = ceil_div(repeats, graph.rotations);
      const Launch launch = [&] { check(cudaGraphLaunch(graph.executable.get(), stream_.get())); };
      const std::size_t batch = timer_->start({&launch, 1}, graphs);
      const auto ran = static_cast<double>(graphs * graph.rotations);
      return std::make_unique<Batch>(*this, batch, static_cast<double>(repeats) / ran, 0);
    }
  }
  const auto launches = static_cast<double>(repeats * std::ssize(rotation));
  return std::make_unique<Batch>(*this, timer_->start(rotation, repeats), 1, launches);
}

// Reading leaves no dirty lines, whose write-back would slow the launch.
Timing CudaDevice::time_cold(const Launch& launch) {
  const auto bytes = static_cast<std::size_t>(machine_.evicting_bytes());
  if (!eviction_buffer_) {
    eviction_buffer_ = queue_->allocate(bytes);
    check(cudaMemsetAsync(eviction_buffer_.get(), 0, bytes, stream_.get()));
    memory_->enqueue_read(eviction_buffer_.get(), bytes);  // loads the kernel
    check(cudaStreamSynchronize(stream_.get()));
  }
  if (remote({&launch, 1}) != nullptr) {
    memory_->enqueue_read(eviction_buffer_.get(), bytes);
    check(cudaStreamSynchronize(stream_.get()));
    wake_remote({&launch, 1});
    return time_remote({&launch, 1}, 1);
  }
  return timer_->time({&launch, 1}, 1,
                      [&] { memory_->enqueue_read(eviction_buffer_.get(), bytes); });
}

void CudaDevice::run(const Launch& launch) {
  launch();
  check(cudaGetLastError());
  check(cudaStreamSynchronize(stream_.get()));
}

ordered_json CudaDevice::identity() const {
  ordered_json json{{"name", name()}, {"backend", "cuda"}};
  json.update(identity_of(properties_, machine_, nvml_.get()));
  if (!notes_.empty()) json["notes"] = notes_;
  json.update({{"event_tick_s", tick_s_},
               {"launch_floor_s", launch_floor_s()},
               {"launch_gap_s", launch_gap_s_},
               {"graph_gap_s", graph_gap_s_}});
  return json;
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(int index, const std::string& text) {
  return std::make_unique<CudaDevice>(index, text);
}

}  // namespace ridgebench
