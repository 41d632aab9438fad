#include "harness/cli/doctor/kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ridgebench::doctor {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;  // of the log: the kernel's buffer is smaller

// All of the log. Each read of /dev/kmsg returns one line, and EPIPE for lines that were
// overwritten meanwhile; without O_NONBLOCK a read would wait for the next line.
std::optional<std::string> read_log(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::string text;
  std::array<char, 8192> line{};
  while (text.size() < kMostBytes) {
    const ssize_t count = read(descriptor, line.data(), line.size());
    if (count < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (count <= 0) break;
    text.append(line.data(), static_cast<std::size_t>(count));
  }
  close(descriptor);
  return text;
}

struct Logged {
  std::string pci_address;
  int number;
  std::string_view rest;  // of the line, behind the number
};

// "NVRM: Xid (PCI:0000:1b:00): 79, pid=1234, GPU has fallen off the bus."
constexpr std::string_view kXid = "NVRM: Xid (PCI:";
// "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 24007, Fatal, Link 40 sourcetrack timeout error".
// Source: NVIDIA, Fabric Manager User Guide, "NVSwitch SXid Errors".
constexpr std::string_view kSxid = ": SXid (PCI:";

// The error that a line names behind `before`.
std::optional<Logged> error_in(std::string_view line, std::string_view before) {
  constexpr std::string_view kBetween = "): ";
  const std::size_t start = line.find(before);
  if (start == std::string_view::npos) return std::nullopt;
  line.remove_prefix(start + before.size());
  const std::size_t end = line.find(kBetween);
  if (end == std::string_view::npos) return std::nullopt;
  std::string address(line.substr(0, std::min(line.find('.'), end)));
  std::ranges::transform(address, address.begin(), [](unsigned char c) { return std::tolower(c); });
  line.remove_prefix(end + kBetween.size());
  int number = 0;
  const auto [last, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || last == line.data()) return std::nullopt;
  return Logged{address, number, line.substr(static_cast<std::size_t>(last - line.data()))};
}

// Counts an error among those found.
void count(Facts& found, Facts error) {
  const auto known = std::ranges::find_if(found, [&](Facts one) {
    one.erase("count");
    return one == error;
  });
  if (known == found.end()) {
    error["count"] = 1;
    found.push_back(std::move(error));
  } else {
    (*known)["count"] = (*known)["count"].get<int>() + 1;
  }
}

// The driver writes more lines of an error of an NVSwitch, with its registers.
void count_sxid(Facts& found, const Logged& sxid) {
  if (sxid.rest.starts_with(", Data {") || sxid.rest.starts_with(", Severity ")) return;
  Facts severity = nullptr;
  if (sxid.rest.starts_with(", Fatal,")) severity = "fatal";
  if (sxid.rest.starts_with(", Non-fatal,")) severity = "non_fatal";
  count(found, {{"pci_address", sxid.pci_address},
                {"sxid", sxid.number},
                {"severity", std::move(severity)}});
}

}  // namespace

Facts read_kernel_log(const std::filesystem::path& root) {
  const std::optional<std::string> log = read_log(root / "dev/kmsg");
  if (!log) return nullptr;
  Facts xids = Facts::array();
  Facts sxids = Facts::array();
  for (std::size_t at = 0; at < log->size();) {
    const std::size_t end = std::min(log->find('\n', at), log->size());
    const std::string_view line = std::string_view(*log).substr(at, end - at);
    at = end + 1;
    if (const auto xid = error_in(line, kXid)) {
      count(xids, {{"pci_address", xid->pci_address}, {"xid", xid->number}});
    } else if (const auto sxid = error_in(line, kSxid)) {
      count_sxid(sxids, *sxid);
    }
  }
  return {{"xids", std::move(xids)}, {"sxids", std::move(sxids)}};
}

Facts xids_of(const Facts& log, const std::string& pci_address) {
  if (log.is_null()) return nullptr;
  Facts own = Facts::array();
  const std::string without_function = pci_address.substr(0, pci_address.find('.'));
  for (const Facts& one : log["xids"]) {
    if (one["pci_address"] == without_function) {
      own.push_back({{"xid", one["xid"]}, {"count", one["count"]}});
    }
  }
  return own;
}

}  // namespace ridgebench::doctor
