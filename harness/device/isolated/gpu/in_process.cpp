#include "harness/device/isolated/gpu/in_process.hpp"

#include <atomic>
#include <utility>

#include "harness/device/isolated/wire.hpp"
#include "kernels/common/interface/registry_capture.hpp"

namespace ridgebench {
namespace {

std::atomic<bool> g_has_loaded_kernels = false;
std::atomic<bool> g_gpus_not_isolated = false;

}  // namespace

bool has_loaded_kernels() { return g_has_loaded_kernels; }
bool gpus_not_isolated() { return g_gpus_not_isolated; }
void run_gpu_kernels_here() { g_gpus_not_isolated = true; }

class InProcess::File {
 public:
  File(std::string file, LoadedKernels kernels)
      : file_(std::move(file)), kernels_(std::move(kernels)) {}

  const Implementation& implementation(std::size_t index) {
    if (!loaded_) {
      g_has_loaded_kernels = true;
      const RegistryCapture capture(registry_);
      open_kernels(file_, kernels_);
      loaded_ = true;
    }
    return *registry_.implementations().at(index);
  }

 private:
  std::string file_;
  LoadedKernels kernels_;
  Registry registry_;  // of what the file registers in this process
  bool loaded_ = false;
};

InProcess::InProcess(std::string file, LoadedKernels kernels)
    : file_(std::make_shared<File>(std::move(file), std::move(kernels))) {}

void InProcess::add_launching(Implementation& i, std::size_t index,
                              const nlohmann::json& described) const {
  const auto has = [&](const char* name) { return wire::has(described, name); };
  i.bind = [file = file_, index](Queue& queue, const Plan& plan, const Shape& shape,
                                 std::span<void* const> operands) {
    return file->implementation(index).bind(queue, plan, shape, operands);
  };
  if (has("prepare")) {
    i.prepare = [file = file_, index](Queue& queue, const Shape& shape) {
      return file->implementation(index).prepare(queue, shape);
    };
  }
  if (has("choice")) {
    i.choice = [file = file_, index](const Plan& plan) {
      return file->implementation(index).choice(plan);
    };
  }
  if (has("named_plans")) {
    i.named_plans = [file = file_, index] { return file->implementation(index).named_plans(); };
  }
  if (has("unit_times")) {
    i.unit_times = [file = file_, index](const Plan& plan) {
      return file->implementation(index).unit_times(plan);
    };
  }
}

}  // namespace ridgebench
