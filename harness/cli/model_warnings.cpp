#include "harness/cli/model_warnings.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "harness/base/printable.hpp"

namespace ridgebench {

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    fmt::print(stderr, "warning: {}\n", printable(warning));
  }
}

void print_model_warnings(const Transformer& model) { print_warnings(model.warnings); }

}  // namespace ridgebench
