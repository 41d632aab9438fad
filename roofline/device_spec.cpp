#include "roofline/device_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <ranges>

#include "roofline/embedded_sheets.hpp"

namespace ridgebench {
namespace {

bool same(std::string_view a, std::string_view b) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](const std::string& known) { return same(known, name); });
}

const DeviceSpec* find(auto&& condition) {
  const auto found = std::ranges::find_if(data_sheets(), condition);
  return found == data_sheets().end() ? nullptr : &*found;
}

}  // namespace

const Peak* DeviceSpec::best_peak(Format format) const {
  const Peak* best = nullptr;
  for (const Peak& peak : peaks) {
    const bool fits = peak.format == format && peak.accumulator == Format::fp32;
    if (fits && (best == nullptr || peak.flops_per_s > best->flops_per_s)) best = &peak;
  }
  return best;
}

const std::vector<DeviceSpec>& data_sheets() {
  static const std::vector<DeviceSpec> sheets = [] {
    std::vector<DeviceSpec> parsed;
    for (const EmbeddedSheet& sheet : embedded_sheets()) {
      parsed.push_back(parse_data_sheet(sheet.text, sheet.file));
    }
    std::ranges::sort(parsed, {}, &DeviceSpec::name);
    return parsed;
  }();
  return sheets;
}

const DeviceSpec* find_data_sheet(std::string_view name) {
  return find([&](const DeviceSpec& sheet) {
    return same(sheet.name, name) || contains(sheet.aliases, name);
  });
}

std::string data_sheet_names() {
  return fmt::format("{}",
                     fmt::join(data_sheets() | std::views::transform(&DeviceSpec::name), ", "));
}

const DeviceSpec* match_data_sheet(std::string_view device_name, std::string_view pci_id) {
  if (device_name.find(" MIG ") != std::string_view::npos) return nullptr;
  const DeviceSpec* by_name =
      find([&](const DeviceSpec& sheet) { return contains(sheet.match_names, device_name); });
  if (by_name != nullptr) return by_name;
  return find([&](const DeviceSpec& sheet) { return contains(sheet.pci_ids, pci_id); });
}

}  // namespace ridgebench
