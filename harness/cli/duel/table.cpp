#include "harness/cli/duel/table.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "harness/base/printable.hpp"

namespace ridgebench {
namespace {

constexpr std::array kTitles{"operation", "first",   "second",  "format",    "shape",
                             "verdict",   "seconds", "95 %",    "in cycles", "cycles",
                             "95 %",      "J first", "J second"};
using Cells = std::array<std::string, kTitles.size()>;

std::string number(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "";
}

// The ratio and its interval as two cells, in steps of a hundredth of a percent.
constexpr int kRatioDigits = 4;
std::string interval(const DuelRatio& ratio) {
  if (!ratio.ratio) return "too few quads";
  return fmt::format("{} to {}", number(ratio.ci_low, kRatioDigits),
                     number(ratio.ci_high, kRatioDigits));
}

std::string joules(const DuelSide& side) {
  return side.energy_per_launch_j ? fmt::format("{:.4g}", *side.energy_per_launch_j) : "";
}

Cells cells_of(const DuelRecord& duel) {
  Cells cells{printable(duel.op), printable(duel.first.technique), printable(duel.second.technique),
              duel.format.name(), printable(duel.shape.text())};
  const DuelScale* scale = duel.deciding();
  cells[5] = scale == nullptr ? name(duel.status) : name(scale->seconds.verdict);
  if (scale == nullptr) return cells;
  cells[6] = number(scale->seconds.ratio, kRatioDigits);
  cells[7] = interval(scale->seconds);
  if (const DuelRatio* cycles = duel.in_cycles()) {
    cells[8] = name(cycles->verdict);
    cells[9] = number(cycles->ratio, kRatioDigits);
    cells[10] = interval(*cycles);
  }
  cells[11] = joules(duel.first);
  cells[12] = joules(duel.second);
  return cells;
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

// What would decide an undecided duel.
void print_effort(std::ostream& out, const DuelRecord& duel) {
  const DuelScale* const scale = duel.deciding();
  if (scale == nullptr || scale->seconds.verdict != Verdict::undecided || !scale->seconds.ratio) {
    return;
  }
  constexpr double kMostTimes = 1000;
  const double times = effort_to_decide(scale->seconds.log_ratios);
  const char* const options = duel.processes > 1 ? "--seconds and --processes" : "--seconds";
  fmt::print(out, "{} {} {}: undecided; {}\n", printable(duel.op), duel.format.name(),
             printable(duel.shape.text()),
             times < kMostTimes ? fmt::format("about {:.1f} times {} would decide", times, options)
                                : "more seconds would hardly decide");
}

// What the technique chose, and what keeps its library from its best.
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
    print_effort(out, duel);
    print_overlap(out, duel);
    print_remarks(out, duel, duel.first);
    if (duel.second.technique != duel.first.technique) print_remarks(out, duel, duel.second);
  }
}

}  // namespace ridgebench
