// Options that name the operations, techniques, formats and shapes of the cases.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/cli/options/shape_options.hpp"
#include "harness/results/environment.hpp"

namespace ridgebench {

// Adds an option that takes names with commas between them, and may be repeated. `type` represents
// a name in the help. `names` must outlive the command.
CLI::Option* add_names(CLI::App& command, const char* flag, std::vector<std::string>& names,
                       const char* help, const char* type);

class CaseOptions {
 public:
  // Adds --op, --technique, --format and the options of shapes. This object must outlive the
  // command.
  std::vector<CLI::Option*> add_to(CLI::App& command);

  // Reads the files that the options name. Throws UsageError as ShapeOptions::lines does.
  [[nodiscard]] CaseNames names() const;

 private:
  CaseNames names_;
  ShapeOptions shapes_;
};

}  // namespace ridgebench
