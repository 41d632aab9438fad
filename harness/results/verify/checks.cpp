#include "harness/results/verify/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "harness/results/doubts.hpp"
#include "harness/results/verify/checksums.hpp"
#include "harness/results/verify/schema_problems.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {

using nlohmann::ordered_json;

namespace {

// JSON keeps doubles to the last bit; the slack is for another compiler's arithmetic.
constexpr double kSlack = 1e-9;

// Only imported results lack them.
constexpr std::array kNeverNull{"method_version", "started", "seed", "fill"};

}  // namespace

void Checker::require(bool holds, const std::string& problem) {
  if (!holds) problems_->push_back(fmt::format("{}: {}", id_, problem));
}

void Checker::equal(const std::string& key, double stored, double computed) {
  const double scale = std::max(std::abs(stored), std::abs(computed));
  require(std::abs(stored - computed) <= kSlack * scale,
          fmt::format("{} is {:.10g}, but other values give {:.10g}", key, stored, computed));
}

void Comparison::compare(const ordered_json& stored, const ordered_json& follows,
                         const std::string& place) {
  if (stored.is_object() && follows.is_object()) {
    for (const auto& [name, value] : follows.items()) {
      const std::string inner = place.empty() ? name : fmt::format("{}.{}", place, name);
      const Older older = lacks_(name, inner);
      const bool known = stored.contains(name);
      check_->require(known || older != Older::nothing, inner + " is missing");
      if (!known || (stored.at(name).is_null() && older == Older::key_or_value)) continue;
      compare(stored.at(name), value, inner);
    }
  } else if (stored.is_array() && follows.is_array() && stored.size() == follows.size()) {
    for (std::size_t i = 0; i < stored.size(); ++i) {
      compare(stored.at(i), follows.at(i), fmt::format("{}[{}]", place, i));
    }
  } else if (stored.is_array() && follows.is_array()) {
    check_->require(false, fmt::format("{} has {} entries, but other values give {}", place,
                                       stored.size(), follows.size()));
  } else if (stored.is_number() && follows.is_number()) {
    check_->equal(place, stored.get<double>(), follows.get<double>());
  } else {
    check_->require(stored == follows, fmt::format("{} is {}, but other values give {}", place,
                                                   json_line(stored), json_line(follows)));
  }
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
  std::ranges::move(environment_problems(environment), std::back_inserter(problems));
  if (!environment.is_object() || environment.contains("imported")) return;
  for (const char* key : kNeverNull) {
    if (!environment.contains(key) || !environment.at(key).is_null()) continue;
    problems.push_back(fmt::format(
        "environment.json: {} is null; allowed: a value, because no other tool measured "
        "the results",
        key));
  }
}

void check_end(const std::filesystem::path& directory, const nlohmann::json& environment,
               std::string_view file, std::vector<std::string>& problems) {
  std::error_code unknown;
  if (!std::filesystem::exists(directory / kSumsFile, unknown)) return;
  const std::string path = (directory / "environment.json").string();
  if (const auto why = why_unfinished(JsonObject(environment, path))) {
    problems.push_back(fmt::format("environment.json: {}", *why));
  }
  const std::string text = read_file((directory / file).string());
  if (!text.empty() && !text.ends_with('\n')) {
    problems.push_back(fmt::format("{}: the last line was cut off", file));
  }
}

std::set<std::string> listed_devices(const nlohmann::json& environment, const std::string& origin) {
  std::set<std::string> devices;
  for (const JsonObject& device : JsonObject(environment, origin).objects("devices")) {
    devices.insert(device.text("name"));
  }
  return devices;
}

}  // namespace ridgebench
