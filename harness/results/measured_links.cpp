#include "harness/results/measured_links.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

struct Direction {
  std::string_view name;
  std::string_view operation;  // whose rows copy that way, without a second direction
};
constexpr std::array kOperations{Direction{kToDevice, "copy_to_device"},
                                 Direction{"to-host", "copy_to_host"},
                                 Direction{"peer", "copy_to_peer"}};

std::string_view operation_that_copies(const std::string& direction) {
  for (const auto& [name, operation] : kOperations) {
    if (name == direction) return operation;
  }
  throw UsageError(fmt::format("--direction is '{}'; allowed: {}", direction, kDirections));
}

}  // namespace

Link open_link(const std::string& link, const std::string& direction) {
  const std::string_view operation = operation_that_copies(direction);
  std::error_code ignored;  // a path without access counts as no folder
  if (!std::filesystem::is_directory(link, ignored)) return link_of(link);
  std::optional<Link> best;
  bool best_is_verified = false;
  for (const Record& r : read_records(link)) {
    if (r.op != operation || r.regime != Regime::steady || !has_time(r.status) || !r.time) continue;
    const double rate = r.bytes / r.time->median;
    const bool verified = r.status == Status::ok;
    if (best && std::pair(verified, rate) <= std::pair(best_is_verified, best->bytes_per_s)) {
      continue;
    }
    best = Link{link, rate, verified ? r.id : r.id + ", unverified", true};
    best_is_verified = verified;
  }
  if (best) return *best;
  throw UsageError(fmt::format(
      "{} has no steady row of {} with a time; allowed: a results directory that has one, or "
      "byte/s such as 50G",
      link, operation));
}

}  // namespace ridgebench
