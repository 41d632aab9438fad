#include "harness/cli/run/earlier_ceilings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/cli/machine_facts.hpp"
#include "harness/results/comparable.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

void require_same_devices(const std::string& directory,
                          const std::vector<std::unique_ptr<Device>>& devices) {
  const std::vector<MeasuredDevice> measured = read_devices(directory);
  for (const auto& device : devices) {
    const auto model = device->identity().at("model").get<std::string>();
    const auto same = [&](const MeasuredDevice& m) {
      return m.name == device->name() && m.model == model;
    };
    if (std::ranges::none_of(measured, same)) {
      throw UsageError(
          fmt::format("{} holds no ceilings of {} ({})", directory, device->name(), model));
    }
  }
}

}  // namespace

EarlierCeilings read_ceilings(const RunRequest& request,
                              const std::vector<std::unique_ptr<Device>>& devices,
                              const std::vector<std::string>& command_line) {
  const std::string& directory = request.ceilings;
  if (directory.empty()) return {};
  require_same_devices(directory, devices);
  EarlierCeilings found{read_records(directory), {}};
  std::erase_if(found.records,
                [](const Record& r) { return r.role == Role::kernel || r.status != Status::ok; });
  const std::string path = directory + "/environment.json";
  const std::string text = read_file(path);
  static_cast<void>(parse_json(text, path));  // refuses what is not JSON
  const auto differ = differences(make_environment(request, read_machine(devices), command_line),
                                  parse_ordered(text));
  if (!differ.empty()) {
    found.unusable = fmt::format("the ceilings of {} are not comparable with this run: {}",
                                 directory, fmt::join(differ, "; "));
  }
  return found;
}

}  // namespace ridgebench
