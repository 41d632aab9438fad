#include "roofline/device_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ranges>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"
#include "roofline/embedded_json.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

bool same(std::string_view a, std::string_view b) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](const std::string& known) { return same(known, name); });
}

// A device's name without the vendor's, which old drivers leave out.
std::string_view without_vendor(std::string_view name) {
  constexpr std::string_view vendor = "NVIDIA ";
  return same(name.substr(0, vendor.size()), vendor) ? name.substr(vendor.size()) : name;
}

// The device in a line of lspci, "3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev
// a1)", or of `nvidia-smi -L`, "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)".
std::string_view device_in_line(std::string_view text) {
  for (const std::string_view vendor :
       {"NVIDIA Corporation ", "Advanced Micro Devices, Inc. [AMD/ATI] "}) {
    const std::size_t begin = text.find(vendor);
    if (begin == std::string_view::npos) continue;
    text.remove_prefix(begin + vendor.size());
    text = text.substr(0, std::min(text.find(" (rev "), text.find(" (prog-if ")));
    const std::size_t id = text.rfind(" [");  // of `lspci -nn`: [10de:2330]
    return id != std::string_view::npos && text.find(':', id) != std::string_view::npos
               ? text.substr(0, id)
               : text;
  }
  if (!text.starts_with("GPU ")) return text;
  const std::size_t colon = std::min(text.find(": "), text.size());
  if (text.find_first_not_of("0123456789", 4) != colon) return text;
  text.remove_prefix(colon + 2);
  return text.substr(0, text.find(" (UUID: "));
}

// True if CUDA, nvidia-smi or lspci calls a device of the sheet so. roofline/ridgebench/peaks has
// the same rules.
bool is_model(const DeviceSpec& sheet, std::string_view text) {
  const std::string_view name = device_in_line(text);
  return std::ranges::any_of(sheet.match_names, [&](std::string_view known) {
    return same(without_vendor(known), without_vendor(name));
  });
}

// True for a virtual GPU, whose PCI id is that of the device: "GRID A100X-4C", "NVIDIA A100-40C",
// "NVIDIA L40S-6". The end is the profile: GB of memory, mostly the license, and ME with the media
// engines. A board number such as "PG509-200" has more digits.
bool is_virtual(std::string_view name) {
  if (without_vendor(name).starts_with("GRID ")) return true;
  std::string_view profile = name.substr(name.rfind('-') + 1);
  if (profile.size() == name.size()) return false;
  if (profile.ends_with("ME")) profile.remove_suffix(2);
  const std::size_t digits = std::min(profile.find_first_not_of("0123456789"), profile.size());
  constexpr std::string_view licenses = "ABCQ";
  if (digits == profile.size()) return digits > 0 && digits <= 2;
  return digits > 0 && digits + 1 == profile.size() &&
         licenses.find(profile.back()) != std::string_view::npos;
}

const DeviceSpec* find(auto&& condition) {
  const auto found = std::ranges::find_if(data_sheets(), condition);
  return found == data_sheets().end() ? nullptr : &*found;
}

}  // namespace

const Peak* DeviceSpec::best_peak(Format format) const {
  const Peak* best = nullptr;
  for (const Peak& peak : peaks) {
    const bool fits = peak.format == format && peak.accumulator == sum_format(format);
    if (fits && (best == nullptr || peak.flops_per_s > best->flops_per_s)) best = &peak;
  }
  return best;
}

const std::vector<DeviceSpec>& data_sheets() {
  static const std::vector<DeviceSpec> sheets = [] {
    std::vector<DeviceSpec> parsed;
    for (const EmbeddedJson& sheet : embedded_sheets()) {
      parsed.push_back(parse_data_sheet(sheet.text, sheet.name));
    }
    std::ranges::sort(parsed, {}, &DeviceSpec::name);
    return parsed;
  }();
  return sheets;
}

const DeviceSpec* find_data_sheet(std::string_view name) {
  return find([&](const DeviceSpec& sheet) {
    return same(sheet.name, name) || contains(sheet.aliases, name) || is_model(sheet, name);
  });
}

std::string data_sheet_names() {
  return fmt::format("{}",
                     fmt::join(data_sheets() | std::views::transform(&DeviceSpec::name), ", "));
}

std::string nearest_data_sheet(std::string_view name) {
  std::vector<std::string_view> names;
  for (const DeviceSpec& sheet : data_sheets()) {
    names.emplace_back(sheet.name);
    names.insert(names.end(), sheet.aliases.begin(), sheet.aliases.end());
  }
  const std::string_view nearest = nearest_name(name, names);
  return nearest.empty() ? std::string() : fmt::format("nearest: {}; ", nearest);
}

DeviceSpec open_data_sheet(const std::string& name) {
  if (const DeviceSpec* sheet = find_data_sheet(name)) return *sheet;
  std::error_code ignored;  // a path without access counts as unknown
  if (std::filesystem::is_regular_file(name, ignored)) {
    return parse_data_sheet(read_file(name), name);
  }
  throw UsageError(fmt::format("no data sheet '{}'; {}allowed: {}, or a data sheet file", name,
                               nearest_data_sheet(name), data_sheet_names()));
}

const DeviceSpec* match_data_sheet(std::string_view device_name, std::string_view pci_id) {
  if (device_name.find(" MIG ") != std::string_view::npos || is_virtual(device_name))
    return nullptr;
  const DeviceSpec* by_name =
      find([&](const DeviceSpec& sheet) { return is_model(sheet, device_name); });
  if (by_name != nullptr) return by_name;
  return find([&](const DeviceSpec& sheet) { return contains(sheet.pci_ids, pci_id); });
}

}  // namespace ridgebench
