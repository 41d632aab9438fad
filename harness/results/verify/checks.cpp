#include "harness/results/verify/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

// JSON keeps doubles to the last bit; the slack is for another compiler's arithmetic.
constexpr double kSlack = 1e-9;

// clang-format off
constexpr std::array kProvenance{
    "run_id", "version", "method_version", "commit", "dirty", "started", "command_line", "host",
    "build", "libraries", "interrupted", "unavailable", "environment_variables"};
// clang-format on

}  // namespace

void Checker::require(bool holds, const std::string& problem) {
  if (!holds) problems_->push_back(fmt::format("{}: {}", id_, problem));
}

void Checker::equal(const std::string& key, double stored, double computed) {
  const double scale = std::max(std::abs(stored), std::abs(computed));
  require(std::abs(stored - computed) <= kSlack * scale,
          fmt::format("{} is {:.10g}, but follows to be {:.10g}", key, stored, computed));
}

void check_work(const StatedWork& work, bool may_lack, Checker& check) {
  const auto& operations = Registry::instance().operations();
  const auto same = [&](const auto& operation) { return operation->name == work.operation; };
  if (may_lack && std::ranges::none_of(operations, same)) return;
  const Operation& operation = Registry::instance().operation(work.operation);
  const Shape shape = parse_shape(work.shape.text(), operation);
  check.equal("flops", work.flops, operation.flops(shape));
  check.equal("bytes", work.bytes, bytes(operation, shape, work.format));
}

void check_provenance(const nlohmann::json& environment, std::vector<std::string>& problems) {
  for (const char* key : kProvenance) {
    if (!environment.contains(key)) {
      problems.push_back(fmt::format("environment.json lacks {}", key));
    }
  }
}

}  // namespace ridgebench
