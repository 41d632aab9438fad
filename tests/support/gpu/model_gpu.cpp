// `--device model`: a GPU as own kernels in another process meet it. Its memory is what the driver
// exports and maps (tests/fake_libcuda), its kernels are functions of the host, and its clock is
// the host's. No time that it reports is a measurement.
#include <cstdlib>
#include <memory>
#include <utility>

#include "harness/device/cpu/device.hpp"
#include "harness/device/isolated/gpu/memory.hpp"
#include "harness/device/isolated/gpu/queue.hpp"
#include "harness/device/isolated/remote_launch.hpp"
#include "harness/device/open_devices.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

class ModelQueue final : public GpuQueue {
 public:
  explicit ModelQueue(Queue& host) : GpuQueue("model"), host_(&host) {}
  [[nodiscard]] std::shared_ptr<void> allocate(std::size_t bytes) override {
    return host_->allocate(bytes);
  }
  [[nodiscard]] double time(const Launch& launch) override { return host_->time(launch); }

 private:
  Queue* host_;
};

class ModelGpu final : public CpuDevice {
 public:
  ModelGpu() : queue_(CpuDevice::queue()) {}
  [[nodiscard]] std::string name() const override { return "model"; }
  [[nodiscard]] Backend backend() const override { return Backend::cuda; }
  [[nodiscard]] Queue& queue() override { return queue_; }
  [[nodiscard]] std::shared_ptr<void> allocate_shared(std::size_t bytes, bool writable) override {
    return allocate_gpu_arena(0, bytes, writable);
  }
  [[nodiscard]] MappedArena map_shared(int descriptor, std::size_t bytes, bool writable) override {
    return map_gpu_arena(0, descriptor, bytes, writable);
  }
  [[nodiscard]] std::string why_not_isolated() override {
    const char* const why = std::getenv("MODEL_GPU_IS_EXCLUSIVE");
    return why == nullptr ? "" : why;
  }
  [[nodiscard]] Early early(const Launch& launch) override {
    return remote({&launch, 1}) != nullptr ? early_of_remote(launch)
                                           : Early{.early = true, .unknown = {}};
  }
  [[nodiscard]] std::optional<double> busy_share(const Launch& launch) override {
    if (remote({&launch, 1}) != nullptr) return busy_share_of_remote(launch);
    return 0.5;
  }

 private:
  ModelQueue queue_;
};

const RegisterDevices models{{.name = "model", .open = [](const std::string& text) {
                                if (text.empty()) return std::unique_ptr<Device>(new ModelGpu);
                                throw UsageError("unknown device 'model:" + text +
                                                 "'; allowed: model");
                              }}};

}  // namespace
}  // namespace ridgebench
