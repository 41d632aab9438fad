// The table of results that `run` prints.
#pragma once

#include <unistd.h>

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/terminal.hpp"
#include "harness/results/doubts.hpp"
#include "harness/results/record.hpp"

namespace ridgebench {

struct TableStyle {
  bool color = false;
  std::optional<int> columns = std::nullopt;  // of the terminal; remarks that do not fit are cut
};

// The style of a table on standard output.
inline TableStyle table_style(bool color) {
  const auto terminal = terminal_of(STDOUT_FILENO);
  return {.color = color, .columns = terminal ? std::optional(terminal->columns) : std::nullopt};
}

// Prints a line per row: its time, rates, cycles, power and energy per launch with units, in the
// digits that their intervals support, and the remark that matters most. Groups skipped rows by
// reason. The first lines warn of controls that moved, and `~` marks the shares that are in doubt.
// The findings follow, a line each.
void print_table(std::ostream& out, const std::vector<Record>& records, const Doubts& doubts,
                 const TableStyle& style, const std::vector<std::string>& findings = {});

}  // namespace ridgebench
