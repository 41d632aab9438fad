#include "harness/cli/options/case_options.hpp"

#include <algorithm>
#include <iterator>

namespace ridgebench {

CLI::Option* add_names(CLI::App& command, const char* flag, std::vector<std::string>& names,
                       const char* help, const char* type) {
  return command.add_option(flag, names, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name(type);
}

std::vector<CLI::Option*> CaseOptions::add_to(CLI::App& command) {
  std::vector<CLI::Option*> added{
      add_names(command, "--op", names_.operations, "Operations, for instance matmul,relu",
                "OPERATION"),
      add_names(command, "--technique", names_.techniques,
                "Techniques, for instance packed,openblas", "TECHNIQUE"),
      add_names(command, "--format", names_.formats,
                "Formats of the inputs, for instance fp32,bf16", "FORMAT")};
  std::ranges::copy(shapes_.add_to(command), std::back_inserter(added));
  return added;
}

CaseNames CaseOptions::names() const {
  CaseNames names = names_;
  names.shapes = shapes_.lines(names_.operations);
  return names;
}

}  // namespace ridgebench
