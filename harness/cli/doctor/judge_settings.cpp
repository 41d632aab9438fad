// Settings of a GPU by its operator, and its state. Advice that changes how others' work
// runs says that the owner must agree.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "harness/cli/doctor/finding.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench::doctor {
namespace {

constexpr const char* kConsent = "with the owner's consent: sudo ";

void judge_sheet(const Facts& gpu, Judge& judge) {
  if (flag_at(gpu, "/slice")) {
    judge.note(
        "mig_slice",
        "a slice (MIG) has a part of the peaks: no data sheet, no MFU; roofs are measured",
        fmt::format("{} {} -mig 0 for the whole GPU", std::string(kConsent), nvidia_smi(gpu)));
  } else if (text_at(gpu, "/data_sheet/name").empty()) {
    judge.note("no_data_sheet",
               "no data sheet matches: no MFU and no promised peaks; roofs are measured",
               "write one by roofline/devices, and pass it: run --roof FILE");
  }
  if (const std::string reason = text_at(gpu, "/no_tensor_roof"); !reason.empty()) {
    judge.note("no_tensor_roof", reason + ": such rows have no roof");
  }
}

void judge_power(const Facts& gpu, Judge& judge) {
  const auto limit = number_at(gpu, "/power_limit_w");
  const auto usual = number_at(gpu, "/power_limits_w/default");
  const auto sheet = number_at(gpu, "/data_sheet/tdp_w");
  if (limit && usual && *limit < *usual) {
    judge.warn(
        "power_cap",
        fmt::format("its power is limited to {:.0f} W; the default is {:.0f} W", *limit, *usual),
        fmt::format("{}{} -pl {:.0f}", kConsent, nvidia_smi(gpu), *usual));
  } else if (limit && sheet && *limit < *sheet) {
    judge.note(
        "power_below_sheet",
        fmt::format("its power limit is {:.0f} W, below the {:.0f} W of the data sheet's board",
                    *limit, *sheet));
  }
}

void judge_modes(const Facts& gpu, Judge& judge) {
  const int mode = static_cast<int>(number_at(gpu, "/compute_mode").value_or(0));
  if (flag_at(gpu, "/mig") && !flag_at(gpu, "/slice")) {
    judge.note("mig_enabled", "MIG is on", "nvidia-smi -L lists its slices: --device MIG-...");
  }
  if (mode == 1 || mode == 3) {  // nvmlComputeMode_t: exclusive thread, process
    judge.note("compute_mode_exclusive",
               "its compute mode is exclusive: one process at a time, `run --concurrent` included",
               fmt::format("{}{} -c 0", kConsent, nvidia_smi(gpu)));
  } else if (mode == 2) {
    judge.fail("compute_mode_prohibited", "its compute mode is prohibited: CUDA cannot use it",
               fmt::format("{}{} -c 0", kConsent, nvidia_smi(gpu)));
  }
  if (value_at(gpu, "/persistence") == false) {
    judge.note("persistence_off", "persistence mode is off: each start of a program takes seconds",
               fmt::format("sudo {} -pm 1", nvidia_smi(gpu)));
  }
  if (value_at(gpu, "/ecc") == false) {
    judge.note("ecc_off", "ECC is off: errors of the memory stay unseen",
               fmt::format("{}{} -e 1, and restart", kConsent, nvidia_smi(gpu)));
  }
  if (value_at(gpu, "/ecc").is_boolean() &&
      value_at(gpu, "/ecc") != value_at(gpu, "/pending_ecc")) {
    judge.warn(
        "ecc_pending",
        fmt::format("ECC goes {} at the next reset", flag_at(gpu, "/pending_ecc") ? "on" : "off"),
        fmt::format("sudo {} --gpu-reset", nvidia_smi(gpu)));
  }
}

void judge_others(const Facts& gpu, Judge& judge) {
  std::vector<std::string> others;
  std::vector<std::string> pids;
  for (const Facts& process : value_at(gpu, "/running")) {
    const auto bytes = number_at(process, "/used_bytes");
    pids.push_back(json_line(process["pid"]));
    others.push_back(bytes ? fmt::format("{} ({:.1f} GiB)", pids.back(), *bytes / 0x1p30)
                           : pids.back());
  }
  const auto used = number_at(gpu, "/used_bytes");
  const auto all = number_at(gpu, "/memory_bytes");
  constexpr double kMuch = 0.1;
  if (!others.empty()) {
    judge.warn("other_processes",
               fmt::format("other processes hold it: {}", fmt::join(others, ", ")),
               fmt::format("ps -o pid,user,cmd -p {}; wait for them, or measure another GPU",
                           fmt::join(pids, ",")));
  } else if (used && all && *used > kMuch * *all) {
    judge.warn(
        "memory_in_use",
        fmt::format("{:.1f} GiB of its memory are in use, by no process that is visible here",
                    *used / 0x1p30),
        fmt::format("sudo fuser -v /dev/nvidia{}, outside of a container",
                    json_line(value_at(gpu, "/nvidia_smi"))));
  }
}

void judge_clocks(const Facts& gpu, Judge& judge) {
  struct Reason {
    const char* name;
    const char* text;
    const char* help;
  };
  constexpr std::array kReasons{
      Reason{"hw_slowdown", "the hardware lowers its clock (heat or power supply)",
             "check its cooling and its power cables"},
      Reason{"sw_thermal_slowdown", "the driver lowers its clock because of heat",
             "check its cooling"},
      Reason{"hw_thermal_slowdown", "the hardware lowers its clock because of heat",
             "check its cooling"},
      Reason{"hw_power_brake_slowdown", "the power supply demands a lower clock",
             "check the power supply of the node"},
      Reason{"sw_power_cap", "the power limit lowers its clock now",
             "wait until the GPU is idle; nvidia-smi -q -d POWER,PERFORMANCE"}};
  const Facts& events = value_at(gpu, "/clock_events");
  for (const Reason& reason : kReasons) {
    if (std::ranges::find(events, Facts(reason.name)) != events.end())
      judge.warn(reason.name, reason.text, reason.help);
  }
  if (std::ranges::find(events, Facts("applications_clocks_setting")) != events.end()) {
    const auto clock = number_at(gpu, "/clocks/application_sm_hz");
    const auto most = number_at(gpu, "/clocks/max_sm_hz");
    judge.warn("application_clocks",
               fmt::format("an administrator limits its clock: {:.0f} MHz for applications, and "
                           "{:.0f} MHz is the highest",
                           clock.value_or(0) / 1e6, most.value_or(0) / 1e6),
               fmt::format("{}{} -rac (or -rgc for locked clocks)", kConsent, nvidia_smi(gpu)));
  }
}

void judge_links(const Facts& gpu, Judge& judge) {
  const auto lanes = number_at(gpu, "/pcie/lanes");
  const auto most_lanes = number_at(gpu, "/pcie/max_lanes");
  if (lanes && most_lanes && *lanes < *most_lanes) {
    judge.warn(
        "pcie_lanes", fmt::format("its PCIe link has {:.0f} of {:.0f} lanes", *lanes, *most_lanes),
        "seat the card or its riser again; sudo lspci -vv -s " + text_at(gpu, "/pci_address"));
  }
  const auto generation = number_at(gpu, "/pcie/generation");
  const auto most = number_at(gpu, "/pcie/max_generation");
  if (generation && most && *generation < *most) {
    judge.note("pcie_generation",
               fmt::format(
                   "its PCIe link runs at generation {:.0f} of {:.0f}; an idle link may save power",
                   *generation, *most));
  }
  const auto active = number_at(gpu, "/nvlinks");
  const auto present = number_at(gpu, "/nvlinks_present");
  if (active && present && *active < *present) {
    judge.warn("nvlinks_down",
               fmt::format("{:.0f} of its {:.0f} NVLinks are down", *present - *active, *present),
               fmt::format("nvidia-smi nvlink -s -i {}; sudo systemctl status nvidia-fabricmanager",
                           json_line(value_at(gpu, "/nvidia_smi"))));
  }
}

void judge_memory(const Facts& gpu, Judge& judge) {
  const std::string reset =
      fmt::format("sudo {} --gpu-reset, with no process on it", nvidia_smi(gpu));
  if (number_at(gpu, "/ecc_uncorrected").value_or(0) > 0) {
    judge.warn("ecc_errors",
               fmt::format("ECC could not correct {:.0f} errors since the driver was loaded",
                           *number_at(gpu, "/ecc_uncorrected")),
               reset);
  }
  if (number_at(gpu, "/ecc_corrected").value_or(0) > 0) {
    judge.note("ecc_corrected",
               fmt::format("ECC corrected {:.0f} errors since the driver was loaded",
                           *number_at(gpu, "/ecc_corrected")));
  }
  if (flag_at(gpu, "/remapped_rows/pending") || number_at(gpu, "/pages_pending").value_or(0) > 0) {
    judge.warn("rows_pending", "rows of its memory wait for a reset to be replaced", reset);
  }
  if (flag_at(gpu, "/remapped_rows/failed")) {
    judge.warn("rows_failed", "a row of its memory could not be replaced", "replace the GPU (RMA)");
  }
}

}  // namespace

void judge_settings(const Facts& gpu, Judge& judge) {
  judge_sheet(gpu, judge);
  judge_power(gpu, judge);
  judge_modes(gpu, judge);
  judge_others(gpu, judge);
}

void judge_health(const Facts& gpu, Judge& judge) {
  judge_clocks(gpu, judge);
  judge_links(gpu, judge);
  judge_memory(gpu, judge);
  const auto now = number_at(gpu, "/temperature_c");
  const auto slowdown = number_at(gpu, "/slowdown_c");
  constexpr double kMargin = 5;
  if (now && slowdown && *now > *slowdown - kMargin) {
    judge.warn("hot", fmt::format("it has {:.0f} C; at {:.0f} C its clock falls", *now, *slowdown),
               "check its cooling, or wait");
  }
}

}  // namespace ridgebench::doctor
