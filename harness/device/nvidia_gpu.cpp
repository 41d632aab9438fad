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

// Indices of the GPUs whose UUID begins with `text`; only the one with exactly this UUID, if there
// is one.
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

std::vector<DeviceFile> nvidia_device_files(const fs::path& root) {
  std::vector<DeviceFile> files;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(root / "dev", unreadable)) {
    const std::string name = entry.path().filename();
    if (!is_device_file(name)) continue;
    const bool opens = access(entry.path().c_str(), R_OK | W_OK) == 0;
    files.push_back({.name = "/dev/" + name, .problem = opens ? "" : std::strerror(errno)});
  }
  std::ranges::sort(files, {}, &DeviceFile::name);
  return files;
}

std::vector<PciGpu> nvidia_pci_gpus(const fs::path& root) {
  constexpr std::string_view kNvidia = "0x10de";
  constexpr std::string_view kDisplayController = "0x03";
  std::vector<PciGpu> gpus;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(root / "sys/bus/pci/devices", unreadable)) {
    if (line_of(entry.path() / "vendor") != kNvidia) continue;
    if (!line_of(entry.path() / "class").starts_with(kDisplayController)) continue;
    std::error_code none;  // where no driver serves the device
    const std::string driver = fs::read_symlink(entry.path() / "driver", none).filename();
    gpus.push_back({.address = entry.path().filename(), .driver = driver});
  }
  std::ranges::sort(gpus, {}, &PciGpu::address);
  return gpus;
}

std::string sign_of_nvidia_gpu(const fs::path& root) {
  const std::vector<DeviceFile> files = nvidia_device_files(root);
  const auto usable =
      std::ranges::find_if(files, [](const DeviceFile& file) { return file.problem.empty(); });
  if (usable != files.end()) return usable->name;
  if (!files.empty()) {
    return fmt::format("{}, which this user cannot open: {}", files[0].name, files[0].problem);
  }
  const std::vector<PciGpu> gpus = nvidia_pci_gpus(root);
  return gpus.empty() ? "" : "PCI device " + gpus.front().address;
}

std::string short_pci_address(std::string_view address) {
  constexpr std::size_t kLength = std::string_view("0000:1b:00.0").size();
  return lower_case(
      std::string(address.substr(address.size() - std::min(kLength, address.size()))));
}

std::string pci_id_text(unsigned vendor, unsigned device) {
  return fmt::format("{:04x}:{:04x}", vendor, device);
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
