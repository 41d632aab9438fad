#include "harness/cli/duel/table.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "harness/base/duels/process_ratio.hpp"
#include "harness/base/printable.hpp"
#include "harness/measure/duel/plan.hpp"
#include "harness/results/measured_roofs.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

constexpr std::array kTitles{"operation", "first",   "second", "format",  "shape",
                             "regime",    "in time", "ratio",  "95 %",    "at one clock",
                             "ratio",     "95 %",    "early",  "J first", "J second"};
using Cells = std::array<std::string, kTitles.size()>;

std::string number(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "";
}

// The ratio and its interval as two cells, in steps of a hundredth of a percent.
constexpr int kRatioDigits = 4;
std::string interval(const DuelRatio& ratio) {
  if (ratio.depends_on_clock()) return "depends on the clock";
  if (!ratio.ratio) return "too few quads";
  return fmt::format("{} to {}", number(ratio.ci_low, kRatioDigits),
                     number(ratio.ci_high, kRatioDigits));
}

std::string joules(const DuelSide& side) {
  if (!side.energy_per_launch_j) return "";
  if (!side.energy_ci_low_j) return fmt::format("{:.4g}", *side.energy_per_launch_j);
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", *side.energy_per_launch_j, *side.energy_ci_low_j,
                     side.energy_ci_high_j.value_or(0));
}

// The sides whose launches may start before the launch ahead has ended.
std::string early(const DuelRecord& duel) {
  const bool first = duel.first.early.value_or(false);
  const bool second = duel.second.early.value_or(false);
  if (first || second) return first && second ? "both" : first ? "first" : "second";
  return duel.first.early && duel.second.early ? "" : "unknown";
}

Cells cells_of(const DuelRecord& duel) {
  Cells cells{printable(duel.op), printable(duel.first.technique), printable(duel.second.technique),
              duel.format.name(), printable(duel.shape.text()),
              // Most duels are steady, and the regime of the others is named.
              duel.regime == Regime::steady ? "" : std::string(name(duel.regime))};
  if (duel.deciding() == nullptr) {
    cells[6] = name(duel.status);
    return cells;
  }
  const auto show = [&](std::size_t at, const DuelRatio* ratio, const char* missing) {
    cells.at(at) = ratio == nullptr ? missing : name(ratio->verdict);
    if (ratio == nullptr) return;
    cells.at(at + 1) = number(ratio->ratio, kRatioDigits);
    cells.at(at + 2) = interval(*ratio);
  };
  show(6, duel.in_time(), "not measured");
  show(9, duel.at_one_clock(), "");
  cells[12] = early(duel);
  cells[13] = joules(duel.first);
  cells[14] = joules(duel.second);
  return cells;
}

// Both halves of a ratio that depends on the clock.
void print_clocks(std::ostream& out, const DuelRecord& duel, const DuelRatio* ratio,
                  const char* unit) {
  if (ratio == nullptr || !ratio->full_clock || !ratio->capped) return;
  const auto text = [](const DuelAtClock& state) {
    const std::string range = state.ci_low
                                  ? fmt::format("{} to {}", number(state.ci_low, kRatioDigits),
                                                number(state.ci_high, kRatioDigits))
                                  : "too few processes";
    return fmt::format(
        "{:.0f} MHz {:.{}f} ({}), {}, {} quads{}", 1e-6 * state.clock_hz, state.ratio, kRatioDigits,
        range, name(state.verdict), state.quads,
        state.log_ratios.empty() ? "" : fmt::format(" of {} processes", state.log_ratios.size()));
  };
  fmt::print(out, "{} {} {}: the ratio of {} depends on the clock; at {}; at {}\n",
             printable(duel.op), duel.format.name(), printable(duel.shape.text()), unit,
             text(*ratio->full_clock), text(*ratio->capped));
}

// A mean over processes in different power states is a mean of two clocks.
void print_states(std::ostream& out, const DuelRecord& duel) {
  if (std::ranges::find(duel.flags, kClocksDiffer) == duel.flags.end()) return;
  fmt::print(out, "{} {} {}: the processes ran at different clocks, in different power states\n",
             printable(duel.op), duel.format.name(), printable(duel.shape.text()));
}

// Caches may then serve both sides, and the ratio is not that of the memory.
void print_rotation(std::ostream& out, const DuelRecord& duel) {
  if (std::ranges::find(duel.flags, kShortRotation) == duel.flags.end()) return;
  fmt::print(out, "{} {} {}: {}, the buffer sets move too few bytes to empty the caches\n",
             printable(duel.op), duel.format.name(), printable(duel.shape.text()), kShortRotation);
}

// A comparison is not fair where the launches of only one side overlap.
void print_overlap(std::ostream& out, const DuelRecord& duel) {
  if (duel.first.early == duel.second.early) return;
  const auto text = [](const DuelSide& side) {
    return fmt::format("{}: {}", printable(side.technique),
                       !side.early   ? "unknown"
                       : *side.early ? "yes"
                                     : "no");
  };
  fmt::print(out, "{} {} {}: launches may overlap, {}, {}\n", printable(duel.op),
             duel.format.name(), printable(duel.shape.text()), text(duel.first), text(duel.second));
}

// Advice that would decide an undecided duel.
void print_effort(std::ostream& out, const DuelRecord& duel) {
  const DuelScale* const scale = duel.deciding();
  if (scale == nullptr || scale->seconds.verdict != Verdict::undecided || !scale->seconds.ratio) {
    return;
  }
  constexpr double kMostTimes = 1000;
  const DuelRatio& ratio = scale->seconds;
  const double times = ratio.errors.empty() ? effort_to_decide(ratio.log_ratios, duel.rule())
                                            : effort_over_processes(ratio.log_ratios, ratio.errors);
  const char* const options = duel.processes > 1 ? "--seconds and --processes" : "--seconds";
  fmt::print(out, "{} {} {}: undecided; {}\n", printable(duel.op), duel.format.name(),
             printable(duel.shape.text()),
             times < kMostTimes ? fmt::format("about {:.1f} times {} would decide", times, options)
                                : "more seconds would hardly decide");
}

// The technique's choice, and the variables that hold its library back.
void print_remarks(std::ostream& out, const DuelRecord& duel, const DuelSide& side) {
  const std::string which = fmt::format("{} {} {}: {}", printable(duel.op), duel.format.name(),
                                        printable(duel.shape.text()), printable(side.technique));
  if (side.choice && !side.choice->empty()) {
    fmt::print(out, "{} chose {}\n", which, printable(*side.choice));
  }
  if (side.held_back_by) {
    fmt::print(out, "{} is held back by {}\n", which, printable(*side.held_back_by));
  }
}

}  // namespace

void print_plan(std::ostream& out, const std::vector<DuelCase>& duels) {
  double total = 0;
  for (const DuelCase& duel : duels) {
    const auto reason = duel.unsupported();
    total += planned_s(duel);
    fmt::print(out, "{:<80} {}\n", duel.id(),
               reason ? "skipped: " + *reason : fmt::format("{:.0f} s", planned_s(duel)));
  }
  fmt::print(out, "{}, about {:.0f} s\n", counted(duels.size(), "duel"), total);
}

void print_duels(std::ostream& out, std::span<const DuelRecord> duels) {
  std::vector<Cells> rows;
  Cells titles;
  std::ranges::copy(kTitles, titles.begin());
  rows.push_back(titles);
  for (const DuelRecord& duel : duels) rows.push_back(cells_of(duel));
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::size_t width = 0;
      const auto wider = [&](const Cells& other) { width = std::max(width, other[i].size()); };
      std::for_each(rows.begin() + 1, rows.end(), wider);
      if (width == 0) continue;  // a column without any text is left out
      width = std::max(width, titles[i].size());
      line += fmt::format("{}{:<{}}", line.empty() ? "" : "  ", row[i], width);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print(out, "{}\n", line);
  }
  for (const DuelRecord& duel : duels) {
    if (duel.reason) fmt::print(out, "{}: {}\n", printable(duel.id), printable(*duel.reason));
    if (duel.short_scale) {
      print_clocks(out, duel, &duel.short_scale->seconds, "seconds");
      print_clocks(out, duel, duel.in_cycles(), "cycles");
    }
    print_states(out, duel);
    print_rotation(out, duel);
    print_effort(out, duel);
    print_overlap(out, duel);
    print_remarks(out, duel, duel.first);
    if (duel.second.technique != duel.first.technique) print_remarks(out, duel, duel.second);
  }
}

}  // namespace ridgebench
