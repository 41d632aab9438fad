#include "roofline/roofs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <utility>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/measured_roofs.hpp"

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void reject_format(const std::string& device, Format format,
                                const std::vector<Format>& known) {
  const auto names = known | std::views::transform([](Format f) { return info(f).name; });
  throw UsageError(fmt::format("{} has no peak for {}; it has: {}", device, info(format).name,
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

class SheetRoofs final : public RoofSource {
 public:
  explicit SheetRoofs(DeviceSpec sheet) : sheet_(std::move(sheet)) {}

  [[nodiscard]] std::string name() const override { return sheet_.name; }

  [[nodiscard]] Rate peak(Format format) const override {
    if (const Peak* best = sheet_.best_peak(format)) {
      return {.per_s = best->flops_per_s, .origin = sheet_.name};
    }
    std::vector<Format> known;
    for (const FormatInfo& f : kFormats) {
      if (sheet_.best_peak(f.format) != nullptr) known.push_back(f.format);
    }
    reject_format(sheet_.name, format, known);
  }

  [[nodiscard]] Rate bandwidth(double /*written_fraction*/) const override {
    return {.per_s = sheet_.memory.bandwidth_bytes_per_s, .origin = sheet_.name};
  }

  [[nodiscard]] std::optional<double> memory_bytes() const override { return sheet_.memory.bytes; }

 private:
  DeviceSpec sheet_;
};

class DirectoryRoofs final : public RoofSource {
 public:
  DirectoryRoofs(const Results& results, MeasuredDevice device)
      : name_(fmt::format("{} in {}", device.model, results.directory.string())),
        memory_bytes_(device.memory_bytes),
        roofs_(results, device.name) {
    for (const ResultRow& row : results.rows) {
      if (row.device == device.name && row.status == "ok" && row.role == "kernel") {
        arithmetic_.emplace_back(row.format, row.arithmetic);
      }
    }
  }

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] Rate peak(Format format) const override {
    auto rate = roofs_.best_engine_roof(format);
    for (const auto& [stored, computed] : arithmetic_) {
      if (rate) break;
      if (stored == info(format).name) rate = roofs_.best_engine_roof(parse_format(computed));
    }
    if (!rate) reject_format(name_, format, roofs_.formats());
    return {.per_s = rate->per_s, .origin = rate->id};
  }

  [[nodiscard]] Rate bandwidth(double written_fraction) const override {
    const auto rate = roofs_.memory_roof(written_fraction);
    if (!rate) throw UsageError(fmt::format("{} has no memory ceiling that is ok", name_));
    return {.per_s = rate->per_s, .origin = rate->id};
  }

  [[nodiscard]] std::optional<double> memory_bytes() const override { return memory_bytes_; }

 private:
  std::string name_;
  std::optional<double> memory_bytes_;
  MeasuredRoofs roofs_;
  std::vector<std::pair<std::string, std::string>> arithmetic_;  // storage format, computed in
};

// The devices of a directory that have ceilings, or the one that was asked for.
std::vector<MeasuredDevice> candidates(const Results& results, std::string_view device) {
  std::vector<MeasuredDevice> found;
  for (const MeasuredDevice& d : results.devices) {
    const bool wanted = device.empty() || d.name == device;
    if (wanted && !MeasuredRoofs(results, d.name).empty()) found.push_back(d);
  }
  return found;
}

}  // namespace

Roof roof(const RoofSource& source, FormatPair format, double written_fraction) {
  return {.peak_flops_per_s = std::min(source.peak(format.a).per_s, source.peak(format.b).per_s),
          .bandwidth_bytes_per_s = source.bandwidth(written_fraction).per_s};
}

std::unique_ptr<RoofSource> sheet_roofs(DeviceSpec sheet) {
  return std::make_unique<SheetRoofs>(std::move(sheet));
}

std::unique_ptr<RoofSource> measured_roofs(const Results& results, std::string_view device) {
  const std::vector<MeasuredDevice> found = candidates(results, device);
  const std::string directory = results.directory.string();
  if (found.empty()) {
    throw UsageError(fmt::format("{} holds no ceiling with status ok{}{}", directory,
                                 device.empty() ? "" : " of device ", device));
  }
  if (found.size() > 1) {
    const auto allowed = found | std::views::transform([&](const MeasuredDevice& d) {
                           return directory + "@" + d.name;
                         });
    throw UsageError(
        fmt::format("{} holds several devices; allowed: {}", directory, fmt::join(allowed, ", ")));
  }
  return std::make_unique<DirectoryRoofs>(results, found.front());
}

std::unique_ptr<RoofSource> open_roof_source(const std::string& device) {
  if (const DeviceSpec* sheet = find_data_sheet(device)) return sheet_roofs(*sheet);
  std::error_code ignored;  // what cannot be looked at is unknown
  if (fs::is_regular_file(device, ignored)) {
    return sheet_roofs(parse_data_sheet(read_file(device), device));
  }
  if (fs::is_directory(device, ignored)) return measured_roofs(read_results(device), "");
  const std::size_t at = device.rfind('@');
  if (at != std::string::npos && fs::is_directory(device.substr(0, at), ignored)) {
    return measured_roofs(read_results(device.substr(0, at)), device.substr(at + 1));
  }
  throw UsageError(fmt::format(
      "unknown device '{}'; allowed: a data sheet ({}), a data sheet file or a results directory",
      device, data_sheet_names()));
}

}  // namespace ridgebench
