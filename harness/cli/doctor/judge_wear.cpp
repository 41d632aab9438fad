// Findings on parts of a GPU that wear out: memory, links, and errors that the driver logged.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "harness/cli/doctor/finding.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench::doctor {
namespace {

constexpr const char* kReplace = "replace the GPU (RMA) if more follow";

// XIDs that the hardware or its firmware causes.
// Source: NVIDIA, "XID Errors", docs.nvidia.com/deploy/xid-errors.
struct KnownXid {
  int number;
  std::string_view text;
};
constexpr std::array kHardwareXids{KnownXid{48, "a memory error that ECC could not correct"},
                                   KnownXid{61, "an error of the internal controller"},
                                   KnownXid{62, "a halt of the internal controller"},
                                   KnownXid{63, "a row of memory was replaced"},
                                   KnownXid{64, "a row of memory could not be replaced"},
                                   KnownXid{74, "an error of an NVLink"},
                                   KnownXid{79, "the GPU fell off the bus"},
                                   KnownXid{92, "many memory errors that ECC corrected"},
                                   KnownXid{94, "a memory error that was contained"},
                                   KnownXid{95, "a memory error that was not contained"},
                                   KnownXid{119, "the GPU's system processor did not answer"},
                                   KnownXid{120, "an error of the GPU's system processor"},
                                   KnownXid{140, "a memory error that ECC could not correct"}};

// XIDs that programs cause, for the most part, by the same table: an exception of the graphics
// engine, a fault of the MMU, a stopped channel and its cleanup.
constexpr std::array kProgramXids{13, 31, 43, 45};

std::string times(double count) {
  return count > 1 ? fmt::format(" ({:.0f} times)", count) : std::string();
}

void judge_xids(const Facts& gpu, Judge& judge) {
  const Facts& logged = value_at(gpu, "/xids");
  std::vector<std::string> hardware;
  std::vector<std::string> of_programs;
  std::vector<std::string> others;
  for (const Facts& one : logged) {
    const int number = one["xid"].get<int>();
    const std::string often = times(one["count"].get<double>());
    const auto known = std::ranges::find(kHardwareXids, number, &KnownXid::number);
    if (known != kHardwareXids.end()) {
      hardware.push_back(fmt::format("{}, {}{}", number, known->text, often));
      continue;
    }
    const bool caused = std::ranges::find(kProgramXids, number) != kProgramXids.end();
    (caused ? of_programs : others).push_back(fmt::format("{}{}", number, often));
  }
  if (!hardware.empty()) {
    judge.warn("xid_hardware",
               fmt::format("the kernel's log has XID {}", fmt::join(hardware, "; XID ")),
               "sudo dmesg | grep -i xid; docs.nvidia.com/deploy/xid-errors has the remedies");
  }
  if (!others.empty()) {
    judge.warn("xid_unknown",
               fmt::format("the kernel's log has XID {}, which this program has in no list: it may "
                           "be an error of hardware",
                           fmt::join(others, ", ")),
               "sudo dmesg | grep -i xid; docs.nvidia.com/deploy/xid-errors has the remedies");
  }
  if (!of_programs.empty()) {
    judge.note("xid_others",
               fmt::format("the kernel's log has XID {}: errors of programs, for the most part",
                           fmt::join(of_programs, ", ")),
               "sudo dmesg | grep -i xid");
  }
}

void judge_memory_wear(const Facts& gpu, Judge& judge) {
  if (const auto lost = number_at(gpu, "/spare_rows/none"); lost && *lost > 0) {
    judge.warn("banks_without_spares",
               fmt::format("{:.0f} banks of its memory have no spare row left: the next error of "
                           "such a bank stays",
                           *lost),
               "replace the GPU (RMA)");
  }
  if (const auto rows = number_at(gpu, "/remapped_rows/uncorrected"); rows && *rows > 0) {
    judge.note("rows_replaced",
               fmt::format("{:.0f} rows of its memory were replaced after errors that ECC could "
                           "not correct",
                           *rows),
               kReplace);
  }
  if (const auto errors = number_at(gpu, "/ecc_lifetime/uncorrected"); errors && *errors > 0) {
    judge.note("ecc_lifetime",
               fmt::format("ECC could not correct {:.0f} errors in the life of the board", *errors),
               kReplace);
  }
  const double pages = number_at(gpu, "/retired_pages/single_bit").value_or(0) +
                       number_at(gpu, "/retired_pages/double_bit").value_or(0);
  if (pages > 0) {
    judge.note("pages_retired", fmt::format("{:.0f} pages of its memory are retired", pages),
               kReplace);
  }
}

void judge_link_wear(const Facts& gpu, Judge& judge) {
  if (const auto replays = number_at(gpu, "/pcie_replays"); replays && *replays > 0) {
    judge.note("pcie_replays",
               fmt::format("its PCIe link sent {:.0f} packets again since the driver was loaded",
                           *replays),
               "seat the card or its riser again if the number grows under load");
  }
  std::vector<std::string> errors;
  for (const auto& [name, count] : value_at(gpu, "/nvlink_errors").items()) {
    if (count.get<double>() > 0) {
      errors.push_back(fmt::format("{:.0f} {}", count.get<double>(), name));
    }
  }
  if (!errors.empty()) {
    judge.warn("nvlink_errors",
               fmt::format("its NVLinks counted errors: {}", fmt::join(errors, ", ")),
               fmt::format("nvidia-smi nvlink -e -i {}; check the links' other ends",
                           json_line(value_at(gpu, "/nvidia_smi"))));
  }
}

// nvmlGpuFabricState_t: 0 not supported, 1 not started, 2 in progress, 3 completed.
void judge_fabric(const Facts& gpu, Judge& judge) {
  constexpr double kNotStarted = 1;
  constexpr double kCompleted = 3;
  const auto state = number_at(gpu, "/fabric/state");
  if (!state || *state < kNotStarted) return;
  const double status = number_at(gpu, "/fabric/status").value_or(0);
  if (*state == kCompleted && status == 0) return;
  judge.warn("fabric_not_ready",
             *state == kCompleted
                 ? fmt::format("it could not join the NVLink fabric (error {:.0f})", status)
                 : std::string("it has not joined the NVLink fabric"),
             "sudo systemctl status nvidia-fabricmanager");
}

}  // namespace

// A fatal error ends the programs whose packets it stops, and the NVSwitch needs a reset. The log
// keeps the line after the reset, so the line does not show that a GPU cannot be used now. Source:
// NVIDIA, Fabric Manager User Guide, "NVSwitch SXid Errors".
void judge_switches(const Facts& driver, Judge& judge) {
  constexpr const char* kHelp =
      "sudo dmesg | grep -i sxid; NVIDIA's Fabric Manager User Guide has the remedies";
  std::vector<std::string> fatal;
  std::vector<std::string> not_fatal;
  std::vector<std::string> others;
  for (const Facts& one : value_at(driver, "/log/sxids")) {
    const std::string severity = text_at(one, "/severity");
    (severity == "fatal"       ? fatal
     : severity == "non_fatal" ? not_fatal
                               : others)
        .push_back(fmt::format("{} of NVSwitch {}{}", one["sxid"].get<int>(),
                               text_at(one, "/pci_address"), times(one["count"].get<double>())));
  }
  if (!fatal.empty()) {
    judge.warn("sxid_fatal",
               fmt::format("the kernel's log has fatal SXid {}", fmt::join(fatal, "; SXid ")),
               kHelp);
  }
  if (!others.empty()) {
    judge.warn("sxid_unknown",
               fmt::format("the kernel's log has SXid {}, and does not say if it is fatal",
                           fmt::join(others, "; SXid ")),
               kHelp);
  }
  if (!not_fatal.empty()) {
    judge.note("sxid_non_fatal",
               fmt::format("the kernel's log has SXid {}: not fatal, the programs went on",
                           fmt::join(not_fatal, "; SXid ")),
               kHelp);
  }
}

void judge_wear(const Facts& gpu, Judge& judge) {
  judge_memory_wear(gpu, judge);
  judge_link_wear(gpu, judge);
  judge_fabric(gpu, judge);
  judge_xids(gpu, judge);
}

}  // namespace ridgebench::doctor
