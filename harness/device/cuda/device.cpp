#include <algorithm>

#include "harness/device/cuda/driver.cuh"
#include "harness/device/cuda/graph.cuh"
#include "harness/device/cuda/identity.cuh"
#include "harness/device/cuda/memory.cuh"
#include "harness/device/cuda/queue.cuh"
#include "harness/device/cuda/telemetry.hpp"
#include "harness/device/cuda/timer.cuh"
#include "harness/device/open_devices.hpp"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench {
namespace {

using cuda::check;
using nlohmann::ordered_json;

// Launches that are shorter than this, in gaps between launches, go through a graph
// (docs/method.md).
constexpr double kGapsOfAShortLaunch = 20;
// Nodes of such a graph; a rotation that is longer makes a longer one.
constexpr std::int64_t kGraphNodes = 1024;
// Bytes that one stream must move before the kernel uses a cache line again.
constexpr std::int64_t kRotationBytes = std::int64_t{2} << 30U;
// Seconds in which the power of a GPU settles under a tensor load.
constexpr double kTensorWarmUp = 0.5;

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index);

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
  [[nodiscard]] std::vector<Meter> meters() const override;
  [[nodiscard]] std::optional<double> busy_share(const Launch& launch) override;
  [[nodiscard]] Early early(const Launch& launch) override {
    return early_of(stream_.get(), launch);
  }
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override;
  Timing time_cold(const Launch& launch) override;
  void run(const Launch& launch) override;

 private:
  std::optional<Timing> time_graph(std::span<const Launch> rotation, std::int64_t repeats);

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
  CudaGraphExec graph_;
  const void* graph_launches_ = nullptr;
  std::int64_t graph_nodes_ = 0;
};

CudaDevice::CudaDevice(int index) : index_(index), notes_(notes_of_driver()) {
  check(cudaSetDevice(index));
  check(cudaGetDeviceProperties(&properties_, index));
  sheet_ = sheet_of(properties_);
  machine_ = machine_of(properties_, sheet_);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  stream_.reset(stream);
  timer_ = std::make_unique<CudaTimer>(stream, machine_.units);
  queue_ = std::make_unique<CudaQueue>(stream, *timer_);
  memory_ = std::make_unique<CudaMemory>(stream);
  nvml_ = Nvml::open(uuid_text(properties_), no_nvml_);
  tick_s_ = timer_->tick_s();
  launch_gap_s_ = timer_->launch_gap_s();
  graph_gap_s_ = timer_->graph_gap_s();
}

void CudaDevice::begin_case(const std::string& id) {
  check(cudaSetDevice(index_));
  timer_->set_range(id);
  launch_s_.reset();
  graph_launches_ = nullptr;  // end_case() has dropped the graph
  if (nvml_) telemetry_ = std::make_unique<Telemetry>(*nvml_);
}

std::vector<Meter> CudaDevice::meters() const {
  if (!nvml_) return {};
  return {{kEnergyMeter, nvml_->energy_j()},
          {"power_capped_s", nvml_->power_capped_s()},
          {"heat_capped_s", nvml_->heat_capped_s()},
          {"ecc_corrected", nvml_->corrected_errors()},
          {"ecc_uncorrected", nvml_->uncorrected_errors()}};
}

std::optional<double> CudaDevice::busy_share(const Launch& launch) {
  const std::optional<unsigned> blocks = thread_blocks(stream_.get(), launch);
  if (!blocks) return std::nullopt;
  return std::min(1.0, static_cast<double>(*blocks) / machine_.units);
}

ordered_json CudaDevice::end_case() {
  timer_->set_range("");
  graph_.reset();
  if (!telemetry_) return {{"unavailable", no_nvml_}};
  const std::unique_ptr<Telemetry> telemetry = std::move(telemetry_);
  return telemetry->stop();
}

Timing CudaDevice::time_batch(std::span<const Launch> rotation, std::int64_t repeats) {
  if (launch_s_ && *launch_s_ < kGapsOfAShortLaunch * launch_gap_s_) {
    if (const std::optional<Timing> timing = time_graph(rotation, repeats)) return *timing;
  }
  const Timing timing = timer_->time(rotation, repeats);
  const double launches = static_cast<double>(repeats) * static_cast<double>(rotation.size());
  launch_s_ = std::min(launch_s_.value_or(timing.seconds), timing.seconds / launches);
  return timing;
}

// Times graphs of whole rotations, which may hold a few launches more than `repeats` times as many.
// Empty where the launches cannot be captured.
std::optional<Timing> CudaDevice::time_graph(std::span<const Launch> rotation,
                                             std::int64_t repeats) {
  const auto size = static_cast<std::int64_t>(rotation.size());
  const std::int64_t graphs = ceil_div(repeats * size, std::max(kGraphNodes, size));
  const std::int64_t repeats_of_a_graph = ceil_div(repeats, graphs);
  if (graph_launches_ != rotation.data() || graph_nodes_ != repeats_of_a_graph * size) {
    graph_ = capture(stream_.get(), rotation, repeats_of_a_graph);
    graph_launches_ = rotation.data();
    graph_nodes_ = repeats_of_a_graph * size;
  }
  if (!graph_) return std::nullopt;
  const Launch launch = [this] { check(cudaGraphLaunch(graph_.get(), stream_.get())); };
  Timing timing = timer_->time({&launch, 1}, graphs);
  timing.seconds *= static_cast<double>(repeats) / static_cast<double>(graphs * repeats_of_a_graph);
  return timing;
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

std::unique_ptr<Device> open_device(const std::string& text) {
  const int index = choose_cuda_device(text);
  try {
    return std::make_unique<CudaDevice>(index);
  } catch (const std::exception& error) {
    throw DeviceError("device cuda:" + std::to_string(index) + " cannot be used: " + error.what() +
                      "; allowed: --device cpu");
  }
}

const RegisterDevices cuda_devices{
    {.name = "cuda", .open = open_device, .find = find_cuda_devices}};

}  // namespace
}  // namespace ridgebench
