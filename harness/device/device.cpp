#include "harness/device/device.hpp"

#include "harness/base/stopwatch.hpp"
#include "harness/device/isolated/remote_launch.hpp"

namespace ridgebench {
namespace {

class FinishedBatch final : public RunningBatch {
 public:
  explicit FinishedBatch(Timing timing) : timing_(timing) {}
  Timing wait() override { return timing_; }

 private:
  Timing timing_;
};

}  // namespace

std::unique_ptr<RunningBatch> Device::start_batch(std::span<const Launch> rotation,
                                                  std::int64_t repeats) {
  return std::make_unique<FinishedBatch>(time_batch(rotation, repeats));
}

void Device::run_each(std::span<const Launch> rotation) {
  if (run_remote(rotation)) return;
  for (const Launch& launch : rotation) run(launch);
}

std::shared_ptr<void> Device::allocate_shared(std::size_t bytes, bool writable) {
  return ridgebench::allocate_shared(bytes, writable);
}

MappedArena Device::map_shared(int descriptor, std::size_t bytes, bool writable) {
  return {descriptor, bytes, writable};
}

double Device::now_s() const { return steady_s(); }

}  // namespace ridgebench
