#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "harness/cli/doctor/finding.hpp"
#include "harness/device/nvidia_gpu.hpp"
#include "roofline/json_text.hpp"
#include "roofline/units.hpp"

namespace ridgebench::doctor {
namespace {

std::string capability_text(int capability) {
  return fmt::format("{}.{}", capability / 10, capability % 10);
}

// The code that a binary holds for GPUs, as CMAKE_CUDA_ARCHITECTURES lists it:
// "80-real;89-real;90".
struct GpuCode {
  std::set<int> native;
  std::set<int> ptx;
  bool unknown = false;  // "native", "all", "all-major": the list does not say
};

GpuCode code_of_build(const std::string& cuda) {
  constexpr std::string_view kBefore = "architectures ";
  GpuCode code;
  const std::size_t start = cuda.find(kBefore);
  const std::string list = start == std::string::npos ? "" : cuda.substr(start + kBefore.size());
  const std::regex entry("([0-9]+)([af]?)(-real|-virtual)?|[a-z-]+");
  for (std::sregex_iterator at(list.begin(), list.end(), entry), end; at != end; ++at) {
    if ((*at)[1].str().empty()) {
      code.unknown = true;
      continue;
    }
    const int number = std::stoi((*at)[1].str());
    if ((*at)[3] != "-virtual") code.native.insert(number);
    if ((*at)[3] != "-real" && (*at)[2].str().empty()) code.ptx.insert(number);
  }
  return code;
}

// Native code runs on its own and on later minor versions of the same major one. Source: CUDA C++
// Programming Guide, "Binary Compatibility" and "PTX Compatibility".
bool runs_native(const GpuCode& code, int capability) {
  return std::ranges::any_of(
      code.native, [&](int one) { return one / 10 == capability / 10 && one <= capability; });
}

void judge_code(const Facts& facts, const Facts& gpu, Judge& judge) {
  const int capability = static_cast<int>(number_at(gpu, "/compute_capability").value_or(0));
  const int built = cuda_of_build(facts);
  if (capability == 0 || built == 0) return;
  const GpuCode code = code_of_build(text_at(facts, "/build/cuda"));
  if (code.unknown || runs_native(code, capability)) return;
  const std::string build = fmt::format(
      "scripts/build.sh cuda -DCMAKE_CUDA_ARCHITECTURES={}, with a toolkit that supports it",
      capability);
  const std::string held = fmt::format("{}", fmt::join(code.native, ", "));
  const bool ptx = !code.ptx.empty() && *code.ptx.begin() <= capability;
  if (!ptx) {
    judge.fail("no_code",
               fmt::format("this binary has no code for compute capability {} (it has {})",
                           capability_text(capability), held),
               build);
  } else if (number_at(facts, "/driver/cuda/version").value_or(built) < built) {
    judge.fail("ptx_too_new",
               fmt::format("this binary has PTX only for compute capability {}, and the driver is "
                           "older than its CUDA",
                           capability_text(capability)),
               "install a newer driver; or " + build);
  } else {
    judge.note("ptx_only",
               fmt::format("no native code for compute capability {}: the driver compiles PTX at "
                           "the first start, and kernels may be slower",
                           capability_text(capability)),
               build);
  }
}

std::string one_line_of(const Facts& gpu) {
  std::string text = text_at(gpu, "/model");
  const std::string sheet = text_at(gpu, "/data_sheet/name");
  if (!sheet.empty()) text += " (" + sheet + ")";
  const auto add = [&](const char* pointer, const char* format, double unit = 1) {
    if (const auto value = number_at(gpu, pointer))
      text += fmt::format(fmt::runtime(format), *value / unit);
  };
  if (const auto capability = number_at(gpu, "/compute_capability"))
    text += ", " + capability_text(static_cast<int>(*capability));
  add("/free_bytes", ", {:.1f}", 0x1p30);
  add("/memory_bytes", number_at(gpu, "/free_bytes") ? " of {:.1f} GiB free" : ", {:.1f} GiB",
      0x1p30);
  add("/sm_clock_hz", ", {:.0f}", 1e6);
  add("/clocks/max_sm_hz", " of {:.0f} MHz", 1e6);
  add("/power_limit_w", ", {:.0f} W");
  add("/temperature_c", ", {:.0f} C");
  return text;
}

// NVML lists the GPU, and CUDA does not offer it.
void judge_absent(const Facts& facts, const Facts& gpu, Judge& judge) {
  const Facts& visible = value_at(facts, "/driver/visible_devices");
  const double compute_mode = number_at(gpu, "/compute_mode").value_or(0);
  constexpr double kProhibited = 2;
  if (flag_at(gpu, "/mig") && number_at(gpu, "/slices").value_or(0) == 0) {
    judge.fail("mig_without_slice", "MIG is on, and the GPU has no slice: CUDA cannot use it",
               fmt::format("with the owner's consent: sudo {} -mig 0; or create a slice: sudo "
                           "nvidia-smi mig -i {} -cgi 0 -C",
                           nvidia_smi(gpu), json_line(value_at(gpu, "/nvidia_smi"))));
  } else if (compute_mode == kProhibited) {
    judge.fail("compute_mode_prohibited", "its compute mode is prohibited: CUDA cannot use it",
               fmt::format("with the owner's consent: sudo {} -c 0", nvidia_smi(gpu)));
  } else if (visible.is_string()) {
    judge.note("gpu_hidden",
               fmt::format("{}='{}' hides it", kVisibleDevices, visible.get<std::string>()),
               fmt::format("unset {}", kVisibleDevices));
  } else if (number_at(facts, "/driver/cuda/status") == 0.0) {
    judge.fail("gpu_not_offered", "NVML lists the GPU, and CUDA does not offer it",
               "sudo dmesg | grep -iE 'nvrm|xid'");
  }  // else CUDA offers none, for the reason that is the driver's
}

// Errors with which NVML opens a GPU (nvmlReturn_t).
bool judge_opening(const Facts& gpu, Judge& judge) {
  const int status = static_cast<int>(number_at(gpu, "/status").value_or(0));
  const std::string index = json_line(value_at(gpu, "/nvidia_smi"));
  const std::string log = "sudo dmesg | grep -iE 'nvrm|xid'";
  if (status == 0) return false;
  if (status == 4) {
    judge.note("gpu_not_granted", "this user or job may not use the GPU",
               "request it from the scheduler");
  } else if (status == 8) {
    judge.fail("gpu_without_power", "a power cable of the GPU is missing",
               "check its power cables");
  } else if (status == 15) {
    judge.fail("gpu_lost", "the GPU fell off the bus",
               log + ", then sudo reboot; if it comes back, replace the GPU");
  } else if (status == 16) {
    judge.fail("gpu_reset_required", "the GPU waits for a reset",
               fmt::format("sudo nvidia-smi -i {} --gpu-reset", index));
  } else {
    judge.fail("gpu_unreadable", fmt::format("NVML cannot open the GPU (error {})", status), log);
  }
  return true;
}

bool judge_trial(const Facts& gpu, Judge& judge) {
  const std::string end = text_at(gpu, "/tried/end");
  const int status = static_cast<int>(number_at(gpu, "/tried/status").value_or(0));
  if (end == "hung") {
    judge.fail("gpu_hangs", "the GPU does not answer: a first write to its memory does not return",
               "sudo dmesg | grep -iE 'nvrm|xid'; sudo " + nvidia_smi(gpu) + " --gpu-reset");
  } else if (end == "crashed") {
    judge.fail("gpu_crashes",
               fmt::format("a first use of the GPU ends the process with signal {}",
                           number_at(gpu, "/tried/signal").value_or(0)),
               "sudo dmesg | grep -iE 'nvrm|xid'; sudo " + nvidia_smi(gpu) + " --gpu-reset");
  } else if (status != 0) {
    const Cause cause = cause_of_cuda_error(status, text_at(gpu, "/tried/status_name"));
    judge.fail(cause.code, fmt::format("{} in {}", cause.text, text_at(gpu, "/tried/call")),
               cause.help);
  } else {
    return true;
  }
  return false;
}

}  // namespace

std::string label_of(const Facts& gpu) {
  std::string device = text_at(gpu, "/device");
  if (!device.empty()) return device;
  std::string address = text_at(gpu, "/pci_address");
  return address.empty() ? "nvidia-smi:" + json_line(value_at(gpu, "/nvidia_smi")) : address;
}

std::string nvidia_smi(const Facts& gpu) {
  const Facts& index = value_at(gpu, "/nvidia_smi");
  return index.is_null() ? "nvidia-smi" : "nvidia-smi -i " + json_line(index);
}

void judge_gpu(const Facts& facts, const Facts& gpu, Findings& to) {
  Judge judge(to, "gpu", label_of(gpu));
  if (judge_opening(gpu, judge)) return;
  if (text_at(gpu, "/device").empty()) {
    judge_absent(facts, gpu, judge);
    return;
  }
  if (judge_trial(gpu, judge)) judge.ok("gpu_works", one_line_of(gpu));
  judge_code(facts, gpu, judge);
  judge_settings(gpu, judge);
  judge_health(gpu, judge);
  judge_wear(gpu, judge);
}

}  // namespace ridgebench::doctor
