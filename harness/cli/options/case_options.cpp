#include "harness/cli/options/case_options.hpp"

#include "harness/measure/selection/shapes_file.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

std::vector<std::string> shape_lines(const std::vector<std::string>& operations,
                                     const std::vector<std::string>& shapes,
                                     const std::string& file) {
  std::vector<std::string> lines;
  if (!shapes.empty() && operations.empty()) {
    throw UsageError("--shape needs --op, which names the operations of the shape");
  }
  for (const std::string& operation : operations) {
    for (const std::string& shape : shapes) {
      lines.push_back(parse_shape_line(ShapeLine{operation, shape, std::nullopt}.text()).text());
    }
  }
  if (!file.empty()) {
    for (const ShapeLine& line : read_shapes_file(file)) lines.push_back(line.text());
  }
  return lines;
}

std::vector<CLI::Option*> CaseOptions::add_to(CLI::App& command) {
  const auto add_names = [&](const char* flag, std::vector<std::string>& names, const char* help) {
    return command.add_option(flag, names, help)->delimiter(',')->allow_extra_args(false);
  };
  return {add_names("--op", names_.operations, "Operations, for instance matmul,relu"),
          add_names("--technique", names_.techniques, "Techniques, for instance packed,openblas"),
          add_names("--format", names_.formats, "Formats of the inputs, for instance fp32,bf16"),
          command.add_option("--shape", shapes_, kShapeHelp)->allow_extra_args(false),
          command.add_option("--shapes", file_, kShapesHelp)};
}

CaseNames CaseOptions::names() const {
  CaseNames names = names_;
  names.shapes = shape_lines(names_.operations, shapes_, file_);
  return names;
}

}  // namespace ridgebench
