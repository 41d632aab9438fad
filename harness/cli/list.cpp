#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/base/filter.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/options/case_options.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/measure/case.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

struct ListOptions {
  std::string device;
  std::string profile = "quick";
  std::string filter;
  CaseOptions cases;
  bool json = false;
};

// A technique of a user whose backend no open device has, as a case without a shape.
nlohmann::ordered_json absent_case(const Implementation& i) {
  const std::string backend(name(i.backend));
  return {{"id", fmt::format("{}/{}/{}@{}", i.technique.operation, i.technique.name,
                             i.format.name(), backend)},
          {"op", i.technique.operation},
          {"technique", i.technique.name},
          {"format", i.format.name()},
          {"device", backend},
          {"role", "kernel"},
          {"supported", false},
          {"reason",
           fmt::format("needs a device of the backend {}, and --device opens none", backend)}};
}

// A machine without a GPU would otherwise show nothing of the kernels that a file has for one.
std::vector<nlohmann::ordered_json> absent_cases(
    const std::vector<std::unique_ptr<Device>>& devices, const Filter& filter,
    const CaseNames& names) {
  std::vector<nlohmann::ordered_json> found;
  const auto named = [](const std::vector<std::string>& all, const std::string& one) {
    return all.empty() || std::ranges::find(all, one) != all.end();
  };
  for (const auto& i : Registry::instance().implementations()) {
    const auto serves = [&](const auto& device) { return device->backend() == i->backend; };
    if (!i->of_user() || std::ranges::any_of(devices, serves)) continue;
    if (!named(names.operations, i->technique.operation) ||
        !named(names.techniques, i->technique.name) || !named(names.formats, i->format.name())) {
      continue;
    }
    auto absent = absent_case(*i);
    if (filter.matches(absent["id"].get<std::string>())) found.push_back(std::move(absent));
  }
  return found;
}

void list(const ListOptions& options) {
  const auto devices = open_devices(options.device);
  const Filter filter(options.filter);
  const CaseNames names = options.cases.names();
  const Selection selection(names, Registry::instance());
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  bool any = false;
  for (const auto& device : devices) {
    for (const Case& c : enumerate_cases(Registry::instance(), *device,
                                         parse<Profile>(options.profile), {}, selection)) {
      if (c.is_ceiling() && !names.empty()) continue;
      const Record record = c.describe();
      if (!filter.matches(record.id)) continue;
      any = true;
      const std::optional<std::string> reason = unsupported_reason(c);
      if (!options.json) {
        fmt::print("{:<80} {}\n", record.id, reason ? "skipped: " + *reason : "supported");
        continue;
      }
      cases.push_back({{"id", record.id},
                       {"op", record.op},
                       {"technique", record.technique},
                       {"format", record.format.name()},
                       {"device", record.device},
                       {"role", name(record.role)},
                       {"supported", !reason},
                       {"reason", nullable(reason)}});
    }
  }
  for (auto& absent : absent_cases(devices, filter, names)) {
    any = true;
    if (options.json) {
      cases.push_back(std::move(absent));
    } else {
      fmt::print("{:<80} skipped: {}\n", absent["id"].get<std::string>(),
                 absent["reason"].get<std::string>());
    }
  }
  if (!any) throw UsageError(no_case(filter, names));
  if (options.json) print_answer("list", {{"cases", cases}});
}

}  // namespace

void add_list_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list", "Show every case, its support and the reason");
  const auto options = std::make_shared<ListOptions>();
  command->add_option("--device", options->device, kDeviceHelp)->type_name("DEVICE");
  command->add_option("--profile", options->profile, "quick, standard, full or lecture")
      ->type_name("PROFILE");
  command->add_option("--filter", options->filter, kFilterHelp);
  options->cases.add_to(*command);
  command->add_flag("--json", options->json, "Print strict JSON");
  command->callback([options] { list(*options); });
}

}  // namespace ridgebench
