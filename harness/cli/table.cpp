#include "harness/cli/table.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <string>
#include <tuple>

namespace ridgebench {
namespace {

constexpr double kControlMoved = 0.02;

std::string scaled(const std::optional<double>& value, const std::optional<Summary>& time,
                   double unit) {
  return value && time ? format_with_precision(*value / unit, *time) : "";
}

std::string time_text(const std::optional<Summary>& time) {
  if (!time) return "";
  const auto [unit, name] = time->median < 1e-6   ? std::pair(1e-9, "ns")
                            : time->median < 1e-3 ? std::pair(1e-6, "us")
                            : time->median < 1    ? std::pair(1e-3, "ms")
                                                  : std::pair(1.0, "s ");
  return fmt::format("{} {}", format_with_precision(time->median / unit, *time), name);
}

std::string percent(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:.0f} %", 100 * *fraction) : "";
}

auto order(const Record& r) {
  return std::tuple(r.device, r.role != Role::ceiling, r.op, r.format.name(), name(r.regime),
                    r.time ? r.time->median / std::max(1.0, r.bytes) : 0.0);
}

void print_controls(std::ostream& out, const std::vector<Record>& records) {
  for (const Record& last : records) {
    if (last.role != Role::control || !last.time) continue;
    const std::string id = last.id.substr(0, last.id.rfind(":control"));
    const auto first = std::ranges::find_if(records, [&](const Record& r) { return r.id == id; });
    if (first == records.end() || !first->time) continue;
    const double moved = last.time->median / first->time->median - 1;
    if (std::abs(moved) > kControlMoved) {
      fmt::print(
          out, "CONTROL MOVED: {} took {:+.1f} % from first to last; results of this run drifted\n",
          id, 100 * moved);
    }
  }
}

void print_row(std::ostream& out, const Record& r) {
  std::string note;
  if (r.status != Status::ok) note = name(r.status);
  if (r.status == Status::ok && r.bound) note = name(*r.bound);
  if (r.reason) note += ": " + *r.reason;
  for (const std::string& flag : r.flags) note += " " + flag;
  fmt::print(out, "{:<14} {:<16} {:<19} {:<34} {:>10} {:>9} {:>9} {:>6} {:>6}  {}\n", r.op,
             r.technique, r.format.name(), r.shape.text(), time_text(r.time),
             scaled(r.flops_per_s(), r.time, 1e9), scaled(r.bytes_per_s(), r.time, 1e9),
             percent(r.mfu), percent(r.fraction_of_measured_roof), note);
}

}  // namespace

void print_table(std::ostream& out, const std::vector<Record>& records) {
  std::vector<Record> sorted = records;
  std::ranges::sort(sorted, {}, order);
  print_controls(out, records);
  fmt::print(out, "{:<14} {:<16} {:<19} {:<34} {:>10} {:>9} {:>9} {:>6} {:>6}  {}\n", "operation",
             "technique", "format", "shape", "time", "GFLOP/s", "GB/s", "MFU", "roof", "limit");
  std::map<std::string, std::string> skipped;  // formats by reason
  for (const Record& record : sorted) {
    if (record.role == Role::control) continue;
    if (record.status == Status::skipped) {
      const std::string row = record.op + "/" + record.technique;
      skipped[row + ": " + record.reason.value_or("")] += " " + record.format.name();
    } else {
      print_row(out, record);
    }
  }
  for (const auto& [reason, formats] : skipped) {
    fmt::print(out, "skipped {}:{}\n", reason, formats);
  }
}

}  // namespace ridgebench
