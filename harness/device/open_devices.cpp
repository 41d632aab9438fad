#include "harness/device/open_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/printable.hpp"
#include "harness/device/nvidia_gpu.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

using Devices = std::vector<std::unique_ptr<Device>>;

constexpr std::string_view kCuda = "cuda";
constexpr const char* kNoCuda = "this build has no CUDA";

std::vector<DeviceFamily>& families() {
  static std::vector<DeviceFamily> all;
  return all;
}

// Calls visit(family, index) for every GPU that can be used, and returns why there is none. Throws
// DeviceError where the machine shows one, but offers none.
template <class Visit>
std::string for_each_gpu(const std::filesystem::path& root, const Visit& visit) {
  int found_gpus = 0;
  std::string none = kNoCuda;
  for (const DeviceFamily& family : families()) {
    if (family.find == nullptr) continue;
    const DeviceFamily::Found found = family.find();
    for (int i = 0; i < found.count; ++i) visit(family, i);
    found_gpus += found.count;
    if (!found.none.empty()) none = found.none;
  }
  if (found_gpus > 0) return {};
  if (const std::string sign = sign_of_nvidia_gpu(root); !sign.empty()) {
    throw DeviceError(fmt::format(
        "the GPU of this machine ({}) cannot be used: {}; allowed: --device cpu", sign, none));
  }
  return none;
}

Devices open_all_gpus(const std::filesystem::path& root) {
  Devices devices;
  for_each_gpu(root, [&](const DeviceFamily& family, int i) {
    devices.push_back(family.open(std::to_string(i)));
  });
  return devices;
}

}  // namespace

std::unique_ptr<Device> open_one_device(const std::string& selection) {
  const std::size_t colon = std::min(selection.find(':'), selection.size());
  const bool uuid = is_gpu_uuid(selection);
  const std::string name = uuid ? std::string(kCuda) : selection.substr(0, colon);
  const std::string text =
      uuid ? selection : selection.substr(std::min(colon + 1, selection.size()));
  const auto family = std::ranges::find(families(), name, &DeviceFamily::name);
  if (family != families().end()) return family->open(text);
  if (name == kCuda) {
    if (!is_gpu_uuid(text)) parse_gpu_index(text);  // throws for any other text
    throw DeviceError(fmt::format("device {} is absent: {}; allowed: cpu", selection, kNoCuda));
  }
  throw UsageError(
      fmt::format("unknown device '{}'; allowed: cuda:N, cpu, all, GPU-UUID, MIG-UUID", selection));
}

std::vector<nlohmann::ordered_json> find_gpus(const std::filesystem::path& root) {
  std::vector<nlohmann::ordered_json> gpus;
  const std::string none = for_each_gpu(root, [&](const DeviceFamily& family, int i) {
    nlohmann::ordered_json gpu{{"device", fmt::format("{}:{}", family.name, i)},
                               {"index", i},
                               {"model", nullptr},
                               {"uuid_hash", nullptr},
                               {"pci_address", nullptr}};
    if (family.describe != nullptr) gpu.update(family.describe(i));
    gpus.push_back(std::move(gpu));
  });
  if (gpus.empty()) throw DeviceError(fmt::format("this machine has no GPU: {}", none));
  return gpus;
}

std::vector<std::string> device_words() {
  std::vector<std::string> words{"all"};
  for (const DeviceFamily& family : families()) {
    words.push_back(std::string(family.name) + (family.find == nullptr ? "" : ":0"));
  }
  return words;
}

RegisterDevices::RegisterDevices(const DeviceFamily& family) { families().push_back(family); }

Devices open_devices(const std::string& selection, const std::filesystem::path& root) {
  Devices devices;
  const bool all = selection == "all";
  if (!selection.empty() && !all) {
    devices.push_back(open_one_device(selection));
  } else {
    devices = open_all_gpus(root);
    if (all || devices.empty()) devices.push_back(open_one_device("cpu"));
  }
  std::set<std::string> notes;  // devices may have the same
  for (const auto& device : devices) {
    for (const std::string& note : device->notes()) notes.insert(note);
  }
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", printable(note));
  return devices;
}

}  // namespace ridgebench
