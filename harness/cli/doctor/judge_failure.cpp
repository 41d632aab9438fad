// Why CUDA does not start on a machine that has a GPU: the first cause that is found.
#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/doctor/finding.hpp"
#include "harness/device/nvidia_gpu.hpp"

namespace ridgebench::doctor {
namespace {

// nvmlReturn_t
constexpr double kNvmlNoPermission = 4;
constexpr double kNvmlMismatch = 18;
constexpr double kNoDevice = 100;  // CUresult

// 580.65.06 of libcuda.so.580.65.06; empty for another name.
std::string version_in(const std::string& file) {
  const std::size_t at = file.find(".so.");
  const std::string version = at == std::string::npos ? "" : file.substr(at + 4);
  return std::ranges::count(version, '.') > 0 ? version : "";
}

// Each returns true if it found the reason why CUDA does not start.
bool finds_silence(const Facts& driver, Judge& judge) {
  const std::string end = text_at(driver, "/cuda/end");
  if (end == "hung") {
    judge.fail("driver_hangs", "the start of CUDA (cuInit) does not return",
               "sudo dmesg | grep -iE 'nvrm|xid|hung'; the last resort is sudo reboot");
  } else if (end == "crashed") {
    judge.fail("driver_crashes",
               fmt::format("the start of CUDA (cuInit) ends the process with signal {}",
                           number_at(driver, "/cuda/signal").value_or(0)),
               "install the driver again: its libraries do not belong together");
  }
  return end != "answered";
}

bool finds_other_module(const Facts& driver, Judge& judge) {
  const Facts& gpus = value_at(driver, "/kernel/pci");
  const auto served_by = [&](const char* name) {
    return std::ranges::any_of(gpus,
                               [&](const Facts& gpu) { return text_at(gpu, "/driver") == name; });
  };
  if (served_by("nouveau")) {
    judge.fail(
        "nouveau", "the kernel serves the GPU by nouveau, not by NVIDIA's module",
        "echo 'blacklist nouveau' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf, install "
        "NVIDIA's driver, and restart");
  } else if (served_by("vfio-pci")) {
    judge.fail("gpu_passed_through", "the GPU is given to a virtual machine (vfio-pci)",
               "run ridgebench in that virtual machine");
  } else {
    return false;
  }
  return true;
}

bool finds_missing_module(const Facts& driver, Judge& judge) {
  if (flag_at(driver, "/kernel/wsl")) return false;
  const bool files = !value_at(driver, "/kernel/device_files").empty();
  const bool module = !text_at(driver, "/kernel/module").empty();
  const std::string container = text_at(driver, "/container");
  if (!files && !container.empty()) {
    judge.fail(
        "container_without_gpu",
        fmt::format("this container ({}) was started without the GPUs", container),
        "docker run --gpus all ..., podman run --device nvidia.com/gpu=all ..., or apptainer "
        "run --nv ...");
  } else if (!module && !value_at(driver, "/kernel/pci").empty()) {
    judge.fail("module_missing", "the kernel's module nvidia is not loaded",
               "sudo modprobe nvidia; if that fails, install NVIDIA's driver for this kernel: "
               "sudo dkms status");
  } else if (module && !files) {
    judge.fail(
        "no_device_files", "the module nvidia is loaded, but there is no /dev/nvidia0",
        "sudo nvidia-modprobe -c 0 -u; in a batch job, request a GPU; in a container, start it "
        "with the NVIDIA runtime");
  } else {
    return false;
  }
  return true;
}

bool finds_no_permission(const Facts& driver, Judge& judge) {
  const Facts& files = value_at(driver, "/kernel/device_files");
  const auto closed =
      std::ranges::find_if(files, [](const Facts& file) { return !file["problem"].is_null(); });
  if (closed == files.end() && number_at(driver, "/nvml/status") != kNvmlNoPermission) return false;
  if (std::ranges::any_of(files, [](const Facts& file) { return file["problem"].is_null(); }) &&
      closed != files.end()) {
    return false;  // another one opens
  }
  const std::string group = closed == files.end() ? "" : text_at(*closed, "/group");
  const std::string which = closed == files.end() ? "/dev/nvidia*"
                                                  : fmt::format("{}: {}", text_at(*closed, "/file"),
                                                                text_at(*closed, "/problem"));
  judge.fail("no_permission", "this user cannot open " + which,
             group.empty() ? "echo 'options nvidia NVreg_DeviceFileMode=0666' | sudo tee "
                             "/etc/modprobe.d/nvidia-files.conf, and restart; in a batch job, "
                             "request a GPU"
                           : fmt::format("sudo usermod -aG {} $USER, and log in again", group));
  return true;
}

bool finds_mismatch(const Facts& driver, Judge& judge) {
  const std::string module = text_at(driver, "/kernel/module");
  const std::string library = version_in(text_at(driver, "/cuda/library"));
  const bool differs = !module.empty() && !library.empty() && module != library;
  const auto status = number_at(driver, "/cuda/status");
  if (status == 804.0) return false;  // the library of cuda-compat is another on purpose
  if (!differs && number_at(driver, "/nvml/status") != kNvmlMismatch && status != 803.0)
    return false;
  const Cause cause = cause_of_cuda_error(803, "");
  const std::string versions = versions_of_driver(driver);
  judge.fail(cause.code,
             "libcuda, NVML and the kernel's module have different versions, as after an update "
             "without a restart" +
                 (versions.empty() ? "" : " (" + versions + ")"),
             cause.help);
  return true;
}

bool finds_hidden(const Facts& driver, Judge& judge) {
  const Facts& visible = value_at(driver, "/visible_devices");
  const bool none =
      number_at(driver, "/cuda/status") == kNoDevice ||
      (number_at(driver, "/cuda/status") == 0.0 && value_at(driver, "/cuda/gpus").empty());
  if (!visible.is_string() || !none) return false;
  judge.fail("gpus_hidden",
             fmt::format("{}='{}' hides every GPU", kVisibleDevices, visible.get<std::string>()),
             fmt::format("unset {}", kVisibleDevices));
  return true;
}

// MIG without a slice is said of each GPU.
bool only_empty_mig(const Facts& facts) {
  const Facts& gpus = value_at(facts, "/gpus");
  return !gpus.empty() && std::ranges::all_of(gpus, [](const Facts& gpu) {
    return flag_at(gpu, "/mig") && number_at(gpu, "/slices").value_or(0) == 0;
  });
}

}  // namespace

std::string versions_of_driver(const Facts& driver) {
  std::string text;
  const std::string cuda = version_in(text_at(driver, "/cuda/library"));
  const std::string nvml = version_in(text_at(driver, "/nvml/library"));
  for (const auto& [what, version] :
       {std::pair<const char*, std::string>{"module", text_at(driver, "/kernel/module")},
        {"libcuda", cuda},
        {"NVML", nvml}}) {
    if (!version.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, version);
  }
  return text;
}

void explain_failure(const Facts& facts, Judge& judge) {
  const Facts& driver = value_at(facts, "/driver");
  if (finds_silence(driver, judge) || finds_other_module(driver, judge) ||
      finds_missing_module(driver, judge) || finds_no_permission(driver, judge) ||
      finds_mismatch(driver, judge)) {
    return;
  }
  if (value_at(driver, "/cuda/library").is_null()) {
    judge.fail("libcuda_missing", "libcuda.so.1, the driver's library, is not installed",
               "install the driver's package libcuda1 (Debian), libnvidia-compute (Ubuntu) or "
               "nvidia-driver-cuda-libs (RHEL)");
  } else if (!finds_hidden(driver, judge) && !only_empty_mig(facts)) {
    const int status = static_cast<int>(number_at(driver, "/cuda/status").value_or(kNoDevice));
    const Cause cause = cause_of_cuda_error(status == 0 ? static_cast<int>(kNoDevice) : status,
                                            text_at(driver, "/cuda/status_name"));
    judge.fail(cause.code, cause.text, cause.help);
  }
}

}  // namespace ridgebench::doctor
