#include "harness/device/isolated/gpu/settle.hpp"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/device/isolated/gpu/in_process.hpp"
#include "harness/device/isolated/kernel_process.hpp"
#include "harness/device/isolated/remote_launch.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// The reason for which the trial failed; empty if it succeeded. Returns nothing if the memory of
// the GPU did not suffice for it: the row's buffers will say so, and a later row may try. The other
// process loads no file, whose code could make it fail.
std::optional<std::string> trial_of(Device& device) {
  if (std::string reason = device.why_not_isolated(); !reason.empty()) return reason;
  try {
    const std::shared_ptr<void> memory = device.allocate_shared(1, true);
    KernelProcess process("no file", LoadedKernels{});
    process.use(device.queue());
    static_cast<void>(process.place_of(memory.get()));
    return std::string();
  } catch (const OutOfMemory&) {
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

void settle_isolation(Device& device, const Implementation& implementation) {
  static std::set<std::string> settled;
  const auto* const bind = implementation.bind.target<RemoteBind>();
  if (bind == nullptr || !bind->of_gpu() || gpus_not_isolated()) return;
  if (settled.contains(device.name())) return;
  const std::optional<std::string> reason = trial_of(device);
  if (!reason) return;
  settled.insert(device.name());
  if (reason->empty()) return;
  run_gpu_kernels_here();
  write_error(fmt::format(
      "note: own kernels of GPUs are not isolated, because they run in the process that "
      "measures them: {}: {}\n",
      device.name(), printable(*reason)));
}

}  // namespace ridgebench
