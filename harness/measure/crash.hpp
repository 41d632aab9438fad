// A sudden end costs the row that caused it and no other. The handler writes the failed row, which
// was prepared before the row began. Then a new process, with the same id and terminal, takes the
// place of this one and measures the other rows.
#pragma once

#include <string>
#include <vector>

#include "harness/results/record.hpp"

namespace ridgebench {

// Installs the handlers, for the OpenMP threads too. `arguments` is the command line of the new
// process. If it is empty, a crash ends the program after the row was written, and leaves a core
// where the system keeps one.
void catch_crashes(const std::vector<std::string>& arguments);

// While a scope lives, a crash belongs to its row. One lives at a time.
class CrashScope {
 public:
  // `row` is what is known of the row, `records_file` the descriptor of records.jsonl. The run has
  // taken `spent_s` seconds so far, which the new process learns by --spent.
  CrashScope(Record row, int records_file, double spent_s);
  CrashScope(const CrashScope&) = delete;  // there is one
  CrashScope& operator=(const CrashScope&) = delete;
  ~CrashScope();
};

}  // namespace ridgebench
