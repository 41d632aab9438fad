#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/doctor/finding.hpp"
#include "harness/device/nvidia_gpu.hpp"

namespace ridgebench::doctor {
namespace {

constexpr double kCudaNoDevice = 100;

std::string cuda_text(double number) {
  const int whole = static_cast<int>(number);
  return fmt::format("{}.{}", whole / 1000, whole % 1000 / 10);
}

// The library of CUDA answered, and offers at least one GPU.
bool driver_works(const Facts& driver) {
  return text_at(driver, "/cuda/end") == "answered" && number_at(driver, "/cuda/status") == 0.0 &&
         !value_at(driver, "/cuda/gpus").empty();
}

// The driver against the toolkit of the build. Source: CUDA Compatibility, "Minor Version
// Compatibility" and its table of the oldest drivers.
void compare_with_build(const Facts& facts, Judge& judge) {
  const auto served = number_at(facts, "/driver/cuda/version");
  const int built = cuda_of_build(facts);
  if (!served || *served <= 0 || built == 0 || *served >= built) return;
  const int major = built / 1000;
  const bool same_major = static_cast<int>(*served) / 1000 == major;
  const char* const oldest = major >= 13 ? "580" : major == 12 ? "525" : "450";
  if (same_major) {
    judge.note("minor_version",
               fmt::format("the driver serves CUDA {}, this binary was built with {}: its native "
                           "code runs, PTX does not",
                           cuda_text(*served), cuda_text(built)));
    return;
  }
  judge.fail(
      "driver_too_old",
      fmt::format("the driver serves CUDA up to {}, and this binary was built with {}",
                  cuda_text(*served), cuda_text(built)),
      fmt::format("install driver {} or newer; or build with a CUDA {}.x toolkit, or take "
                  "the cu{} download",
                  oldest, static_cast<int>(*served) / 1000, static_cast<int>(*served) / 1000));
}

void judge_visibility(const Facts& driver, Judge& judge) {
  const Facts& visible = value_at(driver, "/visible_devices");
  if (!visible.is_string()) return;
  const std::string note =
      visibility_note(visible.get<std::string>(), value_at(driver, "/cuda/gpus").size());
  if (!note.empty()) {
    judge.warn("visible_devices_unknown", note + ": it ignores what follows an unknown entry",
               "nvidia-smi -L lists the numbers and UUIDs");
  }
}

void judge_counters(const Facts& driver, Judge& judge) {
  if (flag_at(driver, "/kernel/counters_for_root_only")) {
    judge.note("counters_restricted", "only root may read performance counters (Nsight Compute)",
               "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
               "/etc/modprobe.d/nvidia-profiling.conf, and load the module again");
  }
  if (!flag_at(driver, "/ncu")) {
    judge.note("ncu_missing",
               "Nsight Compute (ncu) is not on the PATH; only profiles of kernels need it");
  }
}

}  // namespace

bool shows_gpu(const Facts& facts) {
  const Facts& driver = value_at(facts, "/driver");
  return !value_at(driver, "/kernel/pci").empty() ||
         !value_at(driver, "/kernel/device_files").empty() || !value_at(facts, "/gpus").empty() ||
         text_at(driver, "/cuda/end") != "answered" ||
         (!value_at(driver, "/cuda/library").is_null() &&
          number_at(driver, "/cuda/status") != kCudaNoDevice);
}

void judge_driver(const Facts& facts, Findings& to) {
  const Facts& driver = value_at(facts, "/driver");
  Judge judge(to, "driver");
  if (!shows_gpu(facts)) {
    judge.ok("no_gpu", "this machine shows no NVIDIA GPU");
    return;
  }
  if (!driver_works(driver)) {
    explain_failure(facts, judge);
  } else {
    const std::string versions = versions_of_driver(driver);
    judge.ok("driver_works",
             fmt::format("CUDA {}{}{}{}", cuda_text(number_at(driver, "/cuda/version").value_or(0)),
                         versions.empty() ? "" : "; ", versions,
                         flag_at(driver, "/kernel/wsl") ? "; WSL" : ""));
  }
  compare_with_build(facts, judge);
  if (driver_works(driver)) judge_visibility(driver, judge);
  if (text_at(driver, "/nvml/end") != "answered") {
    judge.fail("nvml_hangs", "NVML does not answer: " + text_at(driver, "/nvml/end"),
               "timeout 10 nvidia-smi; sudo dmesg | grep -iE 'nvrm|xid'");
  } else if (driver_works(driver) && number_at(driver, "/nvml/status") != 0.0) {
    judge.warn("nvml_missing", "NVML does not start: clocks, power and temperature stay unknown",
               "install the driver's package libnvidia-ml1; in a container: "
               "NVIDIA_DRIVER_CAPABILITIES=compute,utility");
  }
  judge_counters(driver, judge);
  judge_switches(driver, judge);
  if (cuda_of_build(facts) == 0) {
    judge.fail("build_without_cuda", "this build has no CUDA and cannot measure the GPU",
               "scripts/build.sh cuda, where nvcc is installed; or take the cu13 download");
  }
}

}  // namespace ridgebench::doctor
