#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/base/filter.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/doctor/facts.hpp"
#include "harness/cli/options/case_options.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/measure/case.hpp"
#include "roofline/json_pointer.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

struct ListOptions {
  std::string device;
  std::string profile = "quick";
  std::string filter;
  CaseOptions cases;
  bool sources = false;
  bool json = false;
};

bool chosen(const CaseNames& names, const Implementation& i) {
  const auto named = [](const std::vector<std::string>& all, const std::string& one) {
    return all.empty() || std::ranges::find(all, one) != all.end();
  };
  return named(names.operations, i.technique.operation) &&
         named(names.techniques, i.technique.name) && named(names.formats, i.format.name());
}

// Id of a technique on a backend, a case without a shape.
std::string technique_id(const Implementation& i) {
  return fmt::format("{}/{}/{}@{}", i.technique.operation, i.technique.name, i.format.name(),
                     name(i.backend));
}

// A technique of a user whose backend no open device has, as a case without a shape.
nlohmann::ordered_json absent_case(const Implementation& i) {
  const std::string backend(name(i.backend));
  return {{"id", technique_id(i)},
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
  for (const auto& i : Registry::instance().implementations()) {
    const auto serves = [&](const auto& device) { return device->backend() == i->backend; };
    if (!i->of_user() || std::ranges::any_of(devices, serves)) continue;
    if (!chosen(names, *i)) continue;
    auto absent = absent_case(*i);
    if (filter.matches(absent["id"].get<std::string>())) found.push_back(std::move(absent));
  }
  return found;
}

// The file that registers a technique, from the folder of kernels on, as the file that was loaded,
// or by its name; null for one that no file registers.
nlohmann::ordered_json source_of(const Implementation& i) {
  if (!i.technique.loaded_from.empty()) return i.technique.loaded_from;
  if (i.source == nullptr) return nullptr;
  const std::string path = i.source;
  const std::size_t kernels = path.rfind("kernels/");
  return path.substr(kernels != std::string::npos ? kernels : path.rfind('/') + 1);
}

// The files that rows of libraries call, which the program loads by their names.
nlohmann::ordered_json library_files() {
  const doctor::Facts all = doctor::read_libraries();
  nlohmann::ordered_json files;
  for (const auto& [name, place] :
       {std::pair("cublas", "/cublas/file"), std::pair("cublas_lt", "/cublas/lt_file"),
        std::pair("openblas", "/openblas/file"), std::pair("onednn", "/onednn/file")}) {
    files[name] = nullable(text_at(all, place));
  }
  return files;
}

void print_source(const std::string& what, const nlohmann::ordered_json& file) {
  fmt::print("{:<60} {}\n", what, file.is_null() ? "unknown" : file.get<std::string>());
}

// Every technique of the program, also of devices that this machine lacks. Opens no device.
void list_sources(const ListOptions& options) {
  const Filter filter(options.filter);
  const CaseNames names = options.cases.names();
  const Selection known(names, Registry::instance());  // throws for a name that nothing has
  nlohmann::ordered_json techniques = nlohmann::ordered_json::array();
  for (const auto& i : Registry::instance().implementations()) {
    const std::string id = technique_id(*i);
    if (!chosen(names, *i) || !filter.matches(id)) continue;
    techniques.push_back({{"id", id},
                          {"op", i->technique.operation},
                          {"technique", i->technique.name},
                          {"format", i->format.name()},
                          {"backend", name(i->backend)},
                          {"origin", name(i->technique.origin)},
                          {"source", source_of(*i)}});
  }
  if (techniques.empty()) throw UsageError(no_case(filter, names));
  const nlohmann::ordered_json libraries = library_files();
  if (options.json) {
    print_answer("sources", {{"techniques", techniques}, {"libraries", libraries}});
    return;
  }
  for (const auto& one : techniques) {
    print_source(one["id"].get<std::string>(), one["source"]);
  }
  for (const auto& [library, file] : libraries.items()) print_source(library, file);
}

void list(const ListOptions& options) {
  if (options.sources) {
    list_sources(options);
    return;
  }
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
  CLI::Option* const sources =
      command->add_flag("--sources", options->sources,
                        "Show the file of each technique and of each library, without a device");
  command->add_option("--device", options->device, kDeviceHelp)
      ->type_name("DEVICE")
      ->excludes(sources);
  command->add_option("--profile", options->profile, "quick, standard, full or lecture")
      ->type_name("PROFILE")
      ->excludes(sources);
  command->add_option("--filter", options->filter, kFilterHelp);
  constexpr std::ptrdiff_t kNames = 3;  // --op, --technique and --format; options of shapes follow
  const std::vector<CLI::Option*> named = options->cases.add_to(*command);
  std::for_each(named.begin() + kNames, named.end(),
                [&](CLI::Option* option) { option->excludes(sources); });
  command->add_flag("--json", options->json, "Print strict JSON");
  command->callback([options] { list(*options); });
}

}  // namespace ridgebench
