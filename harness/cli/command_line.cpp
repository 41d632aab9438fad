#include <fmt/format.h>

#include <iostream>

#include "harness/build_info.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/plan.hpp"
#include "harness/results_directory.hpp"
#include "harness/sampler.hpp"
#include "kernels/common/registry.hpp"

namespace ridgepoint {
namespace {

int report(const char* what, ExitCode code) {
  std::string line = what;
  for (char& c : line) c = c == '\n' ? ' ' : c;
  fmt::print(stderr, "ridgepoint: {}\n", line);
  return static_cast<int>(code);
}

int parse_and_run(CLI::App& app, int argc, char** argv, const ExitCode& code) {
  try {
    app.parse(argc, argv);
    return static_cast<int>(code);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return report(error.what(), ExitCode::usage);
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{
      "How fast each basic operation of deep learning runs on this machine, how fast it could, and "
      "why"};
  app.set_version_flag("--version", std::string("ridgepoint ") + build_info::version);
  app.require_subcommand(1);
  ExitCode code = ExitCode::fine;
  add_info_command(app);
  add_list_command(app);
  add_run_command(app, {argv, argv + argc}, code);
  add_predict_command(app);
  add_plan_command(app);
  add_verify_command(app, code);
  try {
    Registry::instance().resolve();
    return parse_and_run(app, argc, argv, code);
  } catch (const UsageError& error) {
    return report(error.what(), ExitCode::usage);
  } catch (const StorageError& error) {
    return report(error.what(), ExitCode::undecided);
  } catch (const Interrupted&) {
    return report("interrupted; finished rows are kept, --resume DIR measures the rest",
                  ExitCode::undecided);
  } catch (const DeviceError& error) {
    return report(error.what(), ExitCode::device_lost);
  } catch (const std::exception& error) {
    return report(error.what(), ExitCode::internal);
  }
}

}  // namespace ridgepoint
