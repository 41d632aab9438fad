#include "harness/device/nvidia_gpu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDigits = "0123456789";

std::string line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Device files of GPUs are nvidia0, nvidia1, ...; nvidiactl is there without a GPU, too.
bool is_device_file(const std::string& name) {
  constexpr std::string_view prefix = "nvidia";
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         name.find_first_not_of(kDigits, prefix.size()) == std::string::npos;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Indices of the GPUs whose UUID begins with `text`; the one with exactly this UUID alone.
std::vector<std::size_t> with_uuid(const std::string& text, const std::vector<std::string>& uuids) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < uuids.size(); ++i) {
    const std::string uuid = lower_case(uuids[i]);
    if (uuid == lower_case(text)) return {i};
    if (uuid.starts_with(lower_case(text))) found.push_back(i);
  }
  return found;
}

std::string allowed(const std::vector<std::string>& uuids) {
  const std::string indices =
      uuids.size() == 1 ? "cuda:0" : fmt::format("cuda:0 to cuda:{}", uuids.size() - 1);
  return fmt::format("allowed: {} ({}), cpu", indices, fmt::join(uuids, ", "));
}

}  // namespace

std::string sign_of_nvidia_gpu(const fs::path& root) {
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(root / "dev", unreadable)) {
    const std::string name = entry.path().filename();
    if (!is_device_file(name)) continue;
    if (access(entry.path().c_str(), R_OK | W_OK) == 0) return "/dev/" + name;
    return fmt::format("/dev/{}, which this user cannot open: {}", name, std::strerror(errno));
  }
  constexpr std::string_view kNvidia = "0x10de";
  constexpr std::string_view kDisplayController = "0x03";
  for (const auto& entry : fs::directory_iterator(root / "sys/bus/pci/devices", unreadable)) {
    if (line_of(entry.path() / "vendor") != kNvidia) continue;
    if (!line_of(entry.path() / "class").starts_with(kDisplayController)) continue;
    return "PCI device " + entry.path().filename().string();
  }
  return {};
}

bool is_gpu_uuid(const std::string& text) {
  const std::string lower = lower_case(text);
  return (lower.starts_with("gpu-") || lower.starts_with("mig-")) && lower.size() > 4;
}

std::size_t parse_gpu_index(const std::string& text) {
  constexpr std::size_t kMostDigits = 3;
  if (text.empty() || text.size() > kMostDigits ||
      text.find_first_not_of(kDigits) != std::string::npos) {
    throw UsageError(fmt::format(
        "unknown device 'cuda:{}'; allowed: cuda:N with a whole number N, GPU-UUID, MIG-UUID",
        text));
  }
  return static_cast<std::size_t>(std::stoi(text));
}

std::size_t choose_gpu(const std::string& text, const std::vector<std::string>& uuids) {
  if (!is_gpu_uuid(text)) {
    const std::size_t index = parse_gpu_index(text);
    if (index < uuids.size()) return index;
    throw DeviceError(fmt::format("device cuda:{} is absent; {}", text, allowed(uuids)));
  }
  const std::vector<std::size_t> found = with_uuid(text, uuids);
  if (found.size() == 1) return found.front();
  throw DeviceError(fmt::format("device {} is {}; {}", text, found.empty() ? "absent" : "ambiguous",
                                allowed(uuids)));
}

std::string visibility_note(const std::string& value, std::size_t offered) {
  const auto listed = static_cast<std::size_t>(std::ranges::count(value, ',')) + 1;
  if (listed <= offered) return {};
  return fmt::format("{}={} lists {} GPUs, but the NVIDIA driver offers {}", kVisibleDevices, value,
                     listed, offered);
}

}  // namespace ridgebench
