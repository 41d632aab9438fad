#include "harness/results/measured_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_pointer.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

struct Direction {
  std::string_view name;
  std::string_view operation;  // whose rows copy that way, without a second direction
};
constexpr std::string_view kPeerCopy = "copy_to_peer";
constexpr std::array kOperations{Direction{kToDevice, "copy_to_device"},
                                 Direction{"to-host", "copy_to_host"},
                                 Direction{"peer", kPeerCopy}};

std::string_view operation_that_copies(const std::string& direction) {
  for (const auto& [name, operation] : kOperations) {
    if (name == direction) return operation;
  }
  throw UsageError(fmt::format("--direction is '{}'; allowed: {}", direction, kDirections));
}

// Returns the verified copies of a folder in a direction. If it has none, returns the imported
// ones. Throws UsageError if it has neither.
std::vector<Record> copies_of(const std::string& folder, std::string_view operation) {
  std::vector<Record> copies = read_records(folder);
  std::erase_if(copies, [&](const Record& r) {
    return r.op != operation || r.regime != Regime::steady || !has_time(r.status) || !r.time;
  });
  const auto is_unverified = [](const Record& r) { return r.status != Status::ok; };
  if (!std::ranges::all_of(copies, is_unverified)) std::erase_if(copies, is_unverified);
  if (!copies.empty()) return copies;
  throw UsageError(fmt::format(
      "{} has no steady row of {} with a time; allowed: a results directory that has one, or "
      "byte/s such as 50G",
      folder, operation));
}

double rate_of(const Record& copy) { return copy.bytes / copy.time->median; }

bool is_slower(const Record& one, const Record& other) { return rate_of(one) < rate_of(other); }

Link measured_by(const Record& copy, const std::string& folder) {
  const char* const doubt = copy.status == Status::ok ? "" : ", unverified";
  return Link{folder, rate_of(copy), fmt::format("{}{}", copy.id, doubt), true};
}

// The GPU that a copy between GPUs goes to: "cuda:1".
std::optional<std::string> peer_of(const Record& copy) {
  for (const auto& [name, value] : copy.shape.attributes()) {
    if (name == "peer") return fmt::format("cuda:{:g}", value);
  }
  return std::nullopt;
}

// "cuda:0 to cuda:1", or the one device of a copy from or to the host. Throws UsageError for an
// import of an older version, which has the other device in the technique only.
std::string place_of(const Record& copy) {
  const auto peer = peer_of(copy);
  if (peer) return fmt::format("{} to {}", copy.device, *peer);
  if (copy.op != kPeerCopy) return copy.device;
  throw UsageError(
      fmt::format("{} does not name its peer; allowed: a shape with peer, as `ridgebench import "
                  "nvbandwidth` of this version writes it",
                  copy.id));
}

// The fastest copy of each place, by place.
using Places = std::map<std::string, Record>;

const Record& slowest_of(const Places& places) {
  const auto by_rate = [](const auto& one, const auto& other) {
    return is_slower(one.second, other.second);
  };
  return std::ranges::min_element(places, by_rate)->second;
}

// The places of the way to copy that ranks would choose.
Places best_way(const std::vector<Record>& copies) {
  std::map<std::string, Places> ways;  // by technique
  for (const Record& copy : copies) {
    const auto [known, is_new] = ways[copy.technique].try_emplace(place_of(copy), copy);
    if (!is_new && is_slower(known->second, copy)) known->second = copy;
  }
  const auto is_worse = [](const auto& one, const auto& other) {
    return std::pair(one.second.size(), rate_of(slowest_of(one.second))) <
           std::pair(other.second.size(), rate_of(slowest_of(other.second)));
  };
  return std::ranges::max_element(ways, is_worse)->second;
}

// Says how many pairs of the GPUs have no rate: a ring may need one of them. Empty for none.
std::string unmeasured(const Places& places) {
  std::set<std::string> gpus;
  for (const auto& [place, copy] : places) {
    const auto peer = peer_of(copy);
    if (!peer) return "";
    gpus.insert({copy.device, *peer});
  }
  const std::size_t pairs = gpus.size() * (gpus.size() - 1);
  return pairs > places.size() ? fmt::format("; {} without a rate may be slower",
                                             counted(pairs - places.size(), "pair"))
                               : "";
}

// Names the file that another tool wrote, if the rows of the folder come from one.
std::string origin_of(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder) / "environment.json";
  std::error_code ignored;  // records without their environment name no file
  if (!std::filesystem::exists(path, ignored)) return folder;
  const nlohmann::ordered_json environment(parse_json(read_file(path), path.string()));
  const std::string file = text_at(environment, "/imported/file");
  return file.empty() ? folder : fmt::format("{}, imported from {}", folder, file);
}

bool is_folder(const std::string& link) {
  std::error_code ignored;  // a path without access counts as no folder
  return std::filesystem::is_directory(link, ignored);
}

}  // namespace

Link open_link(const std::string& link, const std::string& direction) {
  const std::string_view operation = operation_that_copies(direction);
  if (!is_folder(link)) return link_of(link);
  const std::vector<Record> copies = copies_of(link, operation);
  return measured_by(*std::ranges::max_element(copies, is_slower), link);
}

Link open_link_of_ranks(const std::string& link, const std::string& direction) {
  const std::string_view operation = operation_that_copies(direction);
  if (!is_folder(link)) return link_of(link);
  const Places places = best_way(copies_of(link, operation));
  const Record& slowest = slowest_of(places);
  Link found = measured_by(slowest, link);
  found.remark =
      fmt::format("the rate of the link is {}, that of {}, the slowest of {} in {} ({}){}",
                  with_unit(found.bytes_per_s, "B/s"), place_of(slowest),
                  counted(places.size(), peer_of(slowest) ? "pair" : "device"), origin_of(link),
                  found.source, unmeasured(places));
  return found;
}

}  // namespace ridgebench
