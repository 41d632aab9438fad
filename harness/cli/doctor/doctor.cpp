// `ridgebench doctor`: what works on this machine, what does not, and what helps.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/cli/doctor/finding.hpp"
#include "harness/cli/doctor/print_findings.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/print_json.hpp"

namespace ridgebench {
namespace doctor {
namespace {

constexpr double kMostSeconds = 3600;

Facts json_of(const Finding& finding) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? Facts(nullptr) : Facts(text);
  };
  return {{"subject", finding.subject},     {"device", or_null(finding.device)},
          {"status", name(finding.status)}, {"code", finding.code},
          {"text", finding.text},           {"help", or_null(finding.help)}};
}

void run_doctor(const Request& request, bool as_json, ExitCode& code) {
  const Facts facts = read_facts(request);
  const Findings findings = judge(facts);
  const bool failed =
      std::ranges::any_of(findings, [](const Finding& one) { return one.status == Status::error; });
  if (failed) code = ExitCode::device_lost;
  const std::string verdict = verdict_of(facts, findings);
  if (!as_json) {
    print_findings(findings, verdict);
    return;
  }
  Facts list = Facts::array();
  for (const Finding& finding : findings) list.push_back(json_of(finding));
  print_answer("doctor",
               {{"usable", !failed}, {"verdict", verdict}, {"findings", list}, {"facts", facts}});
}

}  // namespace
}  // namespace doctor

void add_doctor_command(CLI::App& app, ExitCode& code) {
  CLI::App* command =
      app.add_subcommand("doctor", "Say what works on this machine, what does not, and what helps");
  struct State {
    bool json = false;
    std::string root = "/";
    double limit_s = 60;
  };
  const auto state = std::make_shared<State>();
  command->add_flag("--json", state->json, "Print strict JSON");
  add_number(*command, "--timeout", state->limit_s,
             "Seconds in which the driver must answer; default 60");
  command
      ->add_option(
          "--root", state->root,
          "Folder that stands for / where the files of the kernel are read: /dev, /proc, /sys")
      ->type_name("DIR");
  command->callback([state, &code] {
    std::error_code unreadable;
    if (!std::filesystem::is_directory(state->root, unreadable)) {
      throw UsageError(
          fmt::format("--root {} is no folder; allowed: a folder that stands for /", state->root));
    }
    if (!(state->limit_s > 0 && state->limit_s <= doctor::kMostSeconds)) {
      throw UsageError(fmt::format("--timeout {:g}; allowed: above 0, up to {:g} seconds",
                                   state->limit_s, doctor::kMostSeconds));
    }
    doctor::run_doctor({.root = state->root, .limit_s = state->limit_s}, state->json, code);
  });
}

}  // namespace ridgebench
