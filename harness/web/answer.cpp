// The commands `predict` and `plan` of a page: the playground calls answer() with the words of a
// command line, and Emscripten hands what it prints to the page. choices() fills the page's boxes.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/cli/commands.hpp"
#include "harness/results/files/read_once.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/embedded_json.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

ExitCode run(const std::vector<std::string>& words) {
  CLI::App app;
  app.require_subcommand(1);
  add_predict_command(app);
  add_plan_command(app);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 reads from the end
    return ExitCode::fine;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return static_cast<ExitCode>(app.exit(error));  // --help
    print_problem(usage_text(app, error));
  } catch (const UsageError& error) {
    print_problem(error.what());
  } catch (const std::exception& error) {
    print_problem(error.what());
    return ExitCode::internal;
  }
  return ExitCode::usage;
}

nlohmann::ordered_json all_choices() {
  nlohmann::ordered_json choices{{"sheets", nlohmann::ordered_json::array()},
                                 {"models", nlohmann::ordered_json::array()},
                                 {"operations", nlohmann::ordered_json::array()}};
  for (const DeviceSpec& sheet : data_sheets()) {
    choices["sheets"].push_back({{"name", sheet.name}, {"title", sheet.title}});
  }
  for (const EmbeddedJson& model : embedded_models()) choices["models"].push_back(model.name);
  for (const auto& operation : Registry::instance().operations()) {
    std::vector<std::string> formats;
    for (const FormatPair format : operation->formats) formats.push_back(format.name());
    choices["operations"].push_back({{"name", operation->name},
                                     {"dimensions", operation->dimensions},
                                     {"formats", formats},
                                     {"of_step", operation->of_step}});
  }
  return choices;
}

}  // namespace
}  // namespace ridgebench

// Resolves the registry; the page calls it first. The page's runs never change, and a slider reads
// one run many times a second.
extern "C" void prepare() {
  static const ridgebench::ReadOnce runs_stay;
  ridgebench::Registry::instance().resolve();
}

// Runs `ridgebench WORDS`, a JSON array of texts, and returns its exit code.
extern "C" int answer(const char* words) {
  const auto code = ridgebench::run(nlohmann::json::parse(words).get<std::vector<std::string>>());
  static_cast<void>(std::fflush(stdout));
  static_cast<void>(std::fflush(stderr));
  return static_cast<int>(code);
}

// The data sheets, the built-in models and the operations, as JSON.
extern "C" const char* choices() {
  static const std::string text = ridgebench::all_choices().dump();
  return text.c_str();
}

// The value with its unit as the commands print it: "3.35 TB/s".
extern "C" const char* text_of(double value, const char* unit) {
  static std::string text;
  text = ridgebench::with_unit(value, unit);
  return text.c_str();
}
