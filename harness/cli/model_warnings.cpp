#include "harness/cli/model_warnings.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "harness/base/printable.hpp"

namespace ridgebench {

void print_model_warnings(const Transformer& model) {
  for (const std::string& warning : model.warnings) {
    fmt::print(stderr, "warning: {}\n", printable(warning));
  }
}

}  // namespace ridgebench
