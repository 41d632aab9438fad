// Options that name shapes: each by its text, those of a file, and those of a model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ridgebench {

class ShapeOptions {
 public:
  // Adds --shape, --shapes, --model, --tokens and --training. This object must outlive the command.
  std::vector<CLI::Option*> add_to(CLI::App& command);

  [[nodiscard]] bool empty() const { return shapes_.empty() && !names_operations(); }
  // A file and a model say which operation has a shape.
  [[nodiscard]] bool names_operations() const { return !file_.empty() || !model_.empty(); }

  // Returns the shapes as lines of a file of shapes; those of --shape for each of `operations`, the
  // names of --op, or without names for each operation of --load. Throws UsageError for a file or a
  // model that is none, for --shape without operations, and for --op without the operation of the
  // model.
  [[nodiscard]] std::vector<std::string> lines(const std::vector<std::string>& operations) const;

 private:
  [[nodiscard]] std::vector<std::string> model_lines(
      const std::vector<std::string>& operations) const;

  std::vector<std::string> shapes_;
  std::string file_;
  std::string model_;
  std::string tokens_;
  bool training_ = false;
};

}  // namespace ridgebench
