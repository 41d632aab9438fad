#include "harness/results/measured_links.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

struct Direction {
  std::string_view name;
  std::string_view operation;  // whose rows copy that way, without a second direction
};
constexpr std::array kOperations{Direction{"to-device", "copy_to_device"},
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
  for (const Record& r : read_records(link)) {
    const bool counts =
        r.op == operation && r.status == Status::ok && r.regime == Regime::steady && r.time;
    if (!counts) continue;
    const double rate = r.bytes / r.time->median;
    if (!best || rate > best->bytes_per_s) best = Link{link, rate, r.id, true};
  }
  if (best) return *best;
  throw UsageError(fmt::format(
      "{} has no steady row of {} with status ok; allowed: a results directory that has one, or "
      "byte/s such as 50G",
      link, operation));
}

}  // namespace ridgebench
