// Options that name the operations, techniques, formats and shapes of the cases.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/results/environment.hpp"

namespace ridgebench {

inline constexpr const char* kShapeHelp =
    "Shape in place of the profile's sizes: m:4096/n:14336/k:4096, 4096 for all dimensions, lists "
    "m:1,16, ranges m:512..4096:512 and m:1..4096:x2; may be repeated";
inline constexpr const char* kShapesHelp =
    "File of shapes, one a line: OPERATION SHAPE [FORMAT], or the same as CSV";

class CaseOptions {
 public:
  // Adds --op, --technique, --format, --shape and --shapes. This object must outlive the command.
  std::vector<CLI::Option*> add_to(CLI::App& command);

  // Reads the file of shapes. Throws UsageError for a file that is none, and for --shape without
  // --op.
  [[nodiscard]] CaseNames names() const;

 private:
  CaseNames names_;
  std::vector<std::string> shapes_;  // of every operation that --op names
  std::string file_;
};

// The lines that `--op A,B --shape S` and `--shapes FILE` stand for.
std::vector<std::string> shape_lines(const std::vector<std::string>& operations,
                                     const std::vector<std::string>& shapes,
                                     const std::string& file);

}  // namespace ridgebench
