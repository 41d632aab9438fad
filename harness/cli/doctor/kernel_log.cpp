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

struct Xid {
  std::string pci_address;
  int number;
};

// "NVRM: Xid (PCI:0000:1b:00): 79, pid=1234, GPU has fallen off the bus."
std::optional<Xid> xid_of(std::string_view line) {
  constexpr std::string_view kBefore = "NVRM: Xid (PCI:";
  constexpr std::string_view kBetween = "): ";
  const std::size_t start = line.find(kBefore);
  if (start == std::string_view::npos) return std::nullopt;
  line.remove_prefix(start + kBefore.size());
  const std::size_t end = line.find(kBetween);
  if (end == std::string_view::npos) return std::nullopt;
  std::string address(line.substr(0, std::min(line.find('.'), end)));
  std::ranges::transform(address, address.begin(), [](unsigned char c) { return std::tolower(c); });
  line.remove_prefix(end + kBetween.size());
  int number = 0;
  const auto [last, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || last == line.data()) return std::nullopt;
  return Xid{address, number};
}

}  // namespace

Facts read_xids(const std::filesystem::path& root) {
  const std::optional<std::string> log = read_log(root / "dev/kmsg");
  if (!log) return nullptr;
  Facts found = Facts::array();
  for (std::size_t at = 0; at < log->size();) {
    const std::size_t end = std::min(log->find('\n', at), log->size());
    const std::optional<Xid> xid = xid_of(std::string_view(*log).substr(at, end - at));
    at = end + 1;
    if (!xid) continue;
    const auto known = std::ranges::find_if(found, [&](const Facts& one) {
      return one["pci_address"] == xid->pci_address && one["xid"] == xid->number;
    });
    if (known == found.end()) {
      found.push_back({{"pci_address", xid->pci_address}, {"xid", xid->number}, {"count", 1}});
    } else {
      (*known)["count"] = (*known)["count"].get<int>() + 1;
    }
  }
  return found;
}

Facts xids_of(const Facts& log, const std::string& pci_address) {
  if (log.is_null()) return nullptr;
  Facts own = Facts::array();
  const std::string without_function = pci_address.substr(0, pci_address.find('.'));
  for (const Facts& one : log) {
    if (one["pci_address"] == without_function) {
      own.push_back({{"xid", one["xid"]}, {"count", one["count"]}});
    }
  }
  return own;
}

}  // namespace ridgebench::doctor
