#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

#include "harness/base/build_info.hpp"
#include "harness/base/loaded_kernels.hpp"
#include "harness/base/printable.hpp"
#include "harness/base/process.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/options/config_option.hpp"
#include "harness/cli/options/help.hpp"
#include "harness/cli/python/python_commands.hpp"
#include "harness/cli/terminal/plot.hpp"
#include "harness/device/isolated/kernel_process.hpp"
#include "harness/device/isolated/kernels_file.hpp"
#include "harness/device/isolated/serve.hpp"
#include "harness/measure/sampler.hpp"
#include "harness/results/results_directory.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

int report(const std::string& what, ExitCode code) {
  print_problem(what);
  return static_cast<int>(code);
}

// Kernels of others join the registry after the command line was read and before a command runs.
void add_load_option(CLI::App& app) {
  const auto files = std::make_shared<std::vector<std::string>>();
  for (const char* const command : {"list", "run", "duel"}) {
    app.get_subcommand(command)
        ->add_option(
            "--load", *files,
            "Kernels of your own: a shared object by ridgebench_add_kernels(), or FILE.py:NAME; "
            "may be repeated")
        ->allow_extra_args(false)
        ->type_name("FILE");
  }
  app.parse_complete_callback([files] {
    load_kernels(*files, add_isolated_kernels);
    Registry::instance().resolve();
  });
}

int parse_and_run(CLI::App& app, int argc, char** argv, const ExitCode& code,
                  const ConfiguredOptions& config) {
  try {
    app.parse(argc, argv);
    return static_cast<int>(code);
  } catch (const CLI::FileError& error) {
    return report(error.what(), ExitCode::usage);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return report(usage_text(app, error) + config.note(), ExitCode::usage);
  }
}

// The system refuses a path that a user named: a folder that may not be read, a name that is too
// long, a loop of links.
std::string refused_path(const std::filesystem::filesystem_error& error) {
  const std::string path = error.path1().empty() ? "the current folder" : error.path1().string();
  return fmt::format("{}: {}; allowed: a path that can be read", path, error.code().message());
}

}  // namespace

CommandFailure command_failure(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const UsageError& error) {
    return {ExitCode::usage, error.what()};
  } catch (const StorageError& error) {
    return {ExitCode::undecided, error.what()};
  } catch (const Interrupted&) {
    return {ExitCode::undecided,
            "interrupted; finished rows are kept, --resume DIR measures the rest"};
  } catch (const DeviceError& error) {
    return {ExitCode::device_lost, error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::row_failed,
            "the host has too little memory; allowed: more memory, or a larger limit (ulimit -v)"};
  } catch (const std::filesystem::filesystem_error& error) {
    return {ExitCode::usage, refused_path(error)};
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::too_many_files_open) {
      return {ExitCode::row_failed, "too many files are open; allowed: a larger limit (ulimit -n)"};
    }
    if (error.code() != std::errc::resource_unavailable_try_again) {
      return {ExitCode::internal, error.what()};
    }
    return {ExitCode::row_failed,
            "the host has too little memory for a thread or a process, or a limit on their number; "
            "allowed: larger limits (ulimit -v, ulimit -u)"};
  } catch (const std::exception& error) {
    return {ExitCode::internal, error.what()};
  }
}

int run_command_line(int argc, char** argv) {
  if (argc == 4 && argv[1] == std::string_view(kServeKernels)) {
    return static_cast<int>(serve_kernels(argv[2], argv[3]));
  }
  end_on_signals();
  CLI::App app{
      "Measures the basic operations of deep learning on this machine and compares them with its "
      "roofline"};
  app.set_version_flag("--version", std::string("ridgebench ") + build_info::version);
  app.require_subcommand(1);
  ExitCode code = ExitCode::fine;
  add_doctor_command(app, code);
  add_info_command(app);
  add_list_command(app);
  std::vector<std::string> command_line(argv, argv + argc);
  add_run_command(app, command_line, code);
  add_duel_command(app, command_line, code);
  add_step_command(app, command_line, code);
  add_soak_command(app, command_line, code);
  add_predict_command(app);
  add_plan_command(app);
  add_number_command(app);
  add_show_command(app);
  add_explain_command(app);
  add_verify_command(app, code);
  add_publish_command(app, code);
  list_python_commands(app);
  add_completion_command(app);
  add_load_option(app);
  const bool terminal_plot = is_terminal_plot(argc, argv);
  if (terminal_plot) add_terminal_plot(*app.get_subcommand("plot"));
  const auto config = add_config_options(app, command_line);
  lay_out_help(app);
  try {
    if (!terminal_plot && argc > 1 && is_python_command(argv[1])) {
      run_python_command(argc, argv);
    }
    const int result = parse_and_run(app, argc, argv, code, *config);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return result;
    return std::max(result, report("cannot write to standard output", ExitCode::undecided));
  } catch (...) {
    const CommandFailure failure = command_failure(std::current_exception());
    if (failure.code == ExitCode::internal && std::ferror(stdout) != 0) {
      return report(fmt::format("cannot write to standard output: {}", failure.text),
                    ExitCode::undecided);
    }
    const bool usage = failure.code == ExitCode::usage;
    return report(usage ? failure.text + config->note() : failure.text, failure.code);
  }
}

}  // namespace ridgebench
