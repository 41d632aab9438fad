// Files with the shapes that a user wants to measure, and the lines of such a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

// One line: an operation, a shape that may have ranges, and a format.
struct ShapeLine {
  std::string operation;
  std::string shape;
  std::optional<std::string> format;  // empty: every format

  // `matmul m:1..64:x2/n:4096/k:4096 bf16`
  [[nodiscard]] std::string text() const;
};

// Reads the text form `OPERATION SHAPE [FORMAT]`, separated by blanks, or the same fields as CSV
// `OPERATION,SHAPE[,FORMAT]`, where a field with commas is in double quotes. The first
// separator decides. Throws UsageError.
ShapeLine parse_shape_line(std::string_view line);

// Reads the lines of a file without blank lines and comments after `#`. The first line may name the
// columns of a table with commas: operation (or op), shape, format (or dtype), and dimensions of
// one letter in place of the shape. A table without operations is one of each of `operations`.
// Throws UsageError that names the file and the line.
std::vector<ShapeLine> read_shapes_file(const std::string& path,
                                        const std::vector<std::string>& operations = {});

}  // namespace ridgebench
