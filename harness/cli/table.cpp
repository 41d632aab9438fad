#include "harness/cli/table.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "harness/base/printable.hpp"

namespace ridgebench {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kPlain = "\x1b[0m";

struct Column {
  std::string_view title;
  bool number = false;  // numbers are at the right
  int dispensable = 0;  // a narrow terminal leaves out the largest first; 0: never
};
// A column without any text is left out.
constexpr std::array kColumns{Column{"device"},
                              Column{"operation"},
                              Column{"technique"},
                              Column{"format"},
                              Column{"shape"},
                              Column{"regime", false, 4},
                              Column{"time", true},
                              Column{"FLOP/s", true, 1},
                              Column{"byte/s", true, 2},
                              Column{"latency", true},
                              Column{"cycles", true, 8},
                              Column{"power", true, 7},
                              Column{"power state", false, 5},
                              Column{"energy", true, 6},
                              Column{"MFU", true, 3},
                              Column{"roof", true},
                              Column{"choice", false, 9},
                              Column{"limit"},
                              Column{"remark"}};
using Widths = std::array<std::size_t, kColumns.size()>;  // 0: the column is left out

struct Row {
  std::array<std::string, kColumns.size()> cells;
  bool bad = false;
};

// Flags by how much they take from a row's number, worst first. A flag that is not listed comes
// before all of these.
constexpr std::array<std::string_view, 18> kFlags{
    "injected_work",   "cpu_throttled", "inherited_cap", "library_held_back", "fixed_answer",
    "few_samples",     "drift",         "bimodal",       "short_rotation",    "below_one_wave",
    "served_by_cache", "few_probes",    "fixed_inputs",  "zero_inputs",       "claim_unchecked",
    "storage_format",  "unbounded",     "no_flops"};

// The one flag that the table shows; the record has all.
std::string flag_that_matters(const std::vector<std::string>& flags) {
  const auto rank = [](const std::string& flag) {
    const auto found = std::ranges::find(kFlags, flag);
    return found == kFlags.end() ? 0 : found - kFlags.begin() + 1;
  };
  const auto worst = std::ranges::min_element(flags, {}, rank);
  return worst == flags.end() ? "" : *worst;
}

// The reason why the row has no time, or a doubt on its time.
std::string remark_of(const Record& r) {
  if (r.reason) return printable(*r.reason);
  std::string remark = printable(flag_that_matters(r.flags));
  const auto add = [&](const std::string& text) { remark += (remark.empty() ? "" : ", ") + text; };
  if (r.isolated == false) add("not isolated");
  if (r.held_back_by) add("held back by " + printable(*r.held_back_by));
  if (r.loaded_from) add("from " + printable(*r.loaded_from));
  // Single launches of another regime overlap nothing.
  if (r.early.value_or(false) && r.regime == Regime::steady) add("launches may overlap");
  if (r.early_unknown) add("early starts unknown: " + printable(*r.early_unknown));
  return remark;
}

// "373 us", "989.5 TFLOP/s": the value in the largest of units 1000 apart that leaves it at 1 or
// more.
std::string in_largest_unit(double value, const Summary& precision, double smallest,
                            std::span<const std::string_view> units) {
  double unit = smallest;
  std::size_t i = 0;
  for (; i + 1 < units.size() && value >= 1000 * unit; ++i) unit *= 1000;
  const std::string number = format_with_precision(value / unit, precision);
  return units[i].empty() ? number : fmt::format("{} {}", number, units[i]);
}

constexpr std::array<std::string_view, 4> kTimeUnits{"ns", "us", "ms", "s"};

std::string time_text(const std::optional<Summary>& time) {
  return time ? in_largest_unit(time->median, *time, 1e-9, kTimeUnits) : "";
}

// The time of one access of a ceiling of latency.
std::string latency_text(const Record& r) {
  const auto& sizes = r.shape.dimensions();
  const auto accesses = std::ranges::find(sizes, "accesses", &Shape::Dimension::first);
  if (r.saturates != Resource::latency || accesses == sizes.end() || !r.time) return "";
  return in_largest_unit(r.time->median / static_cast<double>(accesses->second), *r.time, 1e-9,
                         kTimeUnits);
}

std::string rate_text(const std::optional<double>& rate, const std::optional<Summary>& time,
                      std::string_view unit) {
  constexpr std::array<std::string_view, 4> kPrefixes{"M", "G", "T", "P"};
  if (!rate || !time) return "";
  return in_largest_unit(*rate, *time, 1e6, kPrefixes) + std::string(unit);
}

// Cycles of a launch, in the digits that their own interval supports.
std::string cycles_text(const Record& r) {
  constexpr std::array<std::string_view, 4> kPrefixes{"", "k", "M", "G"};
  const std::optional<Summary> cycles = r.cycles();
  return cycles && r.time ? in_largest_unit(cycles->median, *cycles, 1, kPrefixes) : "";
}

// A value of the window of the samples. Its error is some 0.2 %.
std::string window_text(const Record& r, const char* key, double smallest,
                        std::span<const std::string_view> units) {
  const auto value = r.window_value(key);
  if (!value) return "";
  const double number = *value;
  const double error = 0.002 * number;
  const Summary precision{.median = number,
                          .ci_low = number - error,
                          .ci_high = number + error,
                          .samples = kMinIntervalSamples};
  return in_largest_unit(number, precision, smallest, units);
}

std::string power_text(const Record& r) {
  constexpr std::array<std::string_view, 1> kWatts{"W"};
  return window_text(r, "power_w", 1, kWatts);
}

// Empty at the full clock, which needs no word.
std::string power_state_text(const Record& r) {
  if (!r.power_state || *r.power_state == PowerState::full_clock) return "";
  return std::string(name(*r.power_state));
}

std::string energy_text(const Record& r) {
  constexpr std::array<std::string_view, 4> kJoules{"uJ", "mJ", "J", "kJ"};
  return window_text(r, "energy_per_launch_j", 1e-6, kJoules);
}

std::string percent(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:.0f} %", 100 * *fraction) : "";
}

auto order(const Record& r) {
  return std::tuple(r.device, r.role != Role::ceiling, r.op, r.format.name(), name(r.regime),
                    r.time ? r.time->median / std::max(1.0, r.bytes) : 0.0);
}

// The share of the measured roof. A tilde marks one by a roof that moved, as in figures.
std::string share_text(const Record& r, const Doubts& doubts) {
  const std::string text = percent(r.fraction_of_measured_roof);
  return text.empty() || !doubts.rows.contains(r.id) ? text : "~" + text;
}

Row row_of(const Record& r, const Doubts& doubts, bool several_devices) {
  const bool ok = r.status == Status::ok;
  const std::string_view limit = !ok ? name(r.status) : r.bound ? name(*r.bound) : "";
  return {
      .cells = {several_devices ? printable(r.device) : "", printable(r.op), printable(r.technique),
                r.format.name(), printable(r.shape.text()), std::string(name(r.regime)),
                time_text(r.time), rate_text(r.flops_per_s(), r.time, "FLOP/s"),
                rate_text(r.bytes_per_s(), r.time, "B/s"), latency_text(r), cycles_text(r),
                power_text(r), power_state_text(r), energy_text(r), percent(r.mfu),
                share_text(r, doubts), printable(r.choice.value_or("")), std::string(limit),
                remark_of(r)},
      .bad = !ok};
}

void print_controls(std::ostream& out, const Doubts& doubts) {
  for (const Control& control : doubts.controls) {
    const bool own = control.control == control_of(control.ceiling);  // one line per measurement
    if (!control.moved() || !own) continue;
    fmt::print(
        out, "CONTROL MOVED: {} took {:+.1f} % from first to last{}; results of this run drifted\n",
        printable(control.ceiling), 100 * (1 / (1 + control.change) - 1),
        control.earlier ? " in the run of the ceilings" : "");
  }
  if (doubts.rows.empty()) return;
  fmt::print(out, "~ marks the share of a roof that moved; rows with one: {}\n",
             doubts.rows.size());
}

// Cuts a line for a terminal, but never into the columns before the remark.
std::string fitted(std::string line, std::size_t before_remark, const std::optional<int>& columns) {
  constexpr std::string_view dots = "...";
  const auto most = static_cast<std::size_t>(columns.value_or(0));
  if (!columns || line.size() <= most || before_remark + dots.size() >= most) return line;
  return line.substr(0, most - dots.size()).append(dots);
}

Widths widths_of(const std::vector<Row>& rows) {
  Widths widths{};
  for (std::size_t i = 0; i < widths.size(); ++i) {
    for (const Row& row : rows) widths[i] = std::max(widths[i], row.cells[i].size());
    if (widths[i] > 0) widths[i] = std::max(widths[i], kColumns[i].title.size());
  }
  return widths;
}

// Leaves out columns until the others fit the terminal, with room for the beginning of a remark.
// Returns the titles of those that it left out.
std::vector<std::string_view> leave_out(Widths& widths, const std::optional<int>& columns) {
  constexpr std::size_t kRemark = 12;
  std::vector<std::string_view> left_out;
  const auto width = [&] {
    std::size_t all = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::size_t own = i + 1 == widths.size() ? std::min(widths[i], kRemark) : widths[i];
      if (own > 0) all += own + kGap.size();
    }
    return all - kGap.size();
  };
  while (columns && width() > static_cast<std::size_t>(*columns)) {
    std::size_t least = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool there = widths[i] > 0;
      if (there && kColumns[i].dispensable > kColumns[least].dispensable) least = i;
    }
    if (kColumns[least].dispensable == 0) break;
    left_out.push_back(kColumns[least].title);
    widths[least] = 0;
  }
  return left_out;
}

void print_rows(std::ostream& out, const std::vector<Row>& rows, const TableStyle& style) {
  Widths widths = widths_of(rows);
  const std::vector<std::string_view> left_out = leave_out(widths, style.columns);
  const auto print = [&](const auto& text_of, bool bad) {
    std::string line;
    std::size_t before_remark = 0;
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      if (widths[i] == 0) continue;
      before_remark = line.size();
      if (!line.empty()) line += kGap;
      line += kColumns[i].number ? fmt::format("{:>{}}", text_of(i), widths[i])
                                 : fmt::format("{:<{}}", text_of(i), widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    line = fitted(std::move(line), before_remark, style.columns);
    if (bad && style.color) line = fmt::format("{}{}{}", kRed, line, kPlain);
    fmt::print(out, "{}\n", line);
  };
  print([](std::size_t i) { return kColumns[i].title; }, false);
  for (const Row& row : rows) {
    print([&](std::size_t i) { return std::string_view(row.cells[i]); }, row.bad);
  }
  if (!left_out.empty()) {
    fmt::print(out, "left out for {} columns: {}\n", *style.columns, fmt::join(left_out, ", "));
  }
}

}  // namespace

void print_table(std::ostream& out, const std::vector<Record>& records, const Doubts& doubts,
                 const TableStyle& style, const std::vector<std::string>& findings) {
  std::vector<Record> sorted = records;
  std::ranges::sort(sorted, {}, order);
  std::set<std::string> devices;
  for (const Record& record : records) devices.insert(record.device);
  print_controls(out, doubts);
  for (const std::string& finding : findings)
    fmt::print(out, "{}\n", wrapped(printable(finding), 0, kTextColumns));
  if (!findings.empty()) fmt::print(out, "\n");
  std::vector<Row> rows;
  std::map<std::string, std::string> skipped;  // formats by reason
  for (const Record& record : sorted) {
    if (record.role == Role::control) continue;
    if (record.status == Status::skipped) {
      const std::string row = record.op + "/" + record.technique;
      skipped[row + ": " + record.reason.value_or("")] += " " + record.format.name();
    } else {
      rows.push_back(row_of(record, doubts, devices.size() > 1));
    }
  }
  if (!rows.empty()) print_rows(out, rows, style);
  for (const auto& [reason, formats] : skipped) {
    fmt::print(out, "skipped {}:{}\n", printable(reason), formats);
  }
}

}  // namespace ridgebench
