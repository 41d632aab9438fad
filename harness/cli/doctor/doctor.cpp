// `ridgebench doctor`: what works on this machine, what does not, and what helps.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/cli/doctor/finding.hpp"
#include "harness/cli/doctor/print_findings.hpp"
#include "harness/cli/doctor/rules.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/results/worn.hpp"
#include "roofline/json_object.hpp"
#include "roofline/units.hpp"

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

// The GPUs of an environment.json. Throws UsageError.
Facts recorded_gpus(const std::string& path) {
  const Facts environment = parse_json(read_file(path), path);
  Facts gpus = Facts::array();
  for (const Facts& device : value_at(environment, "/devices")) {
    if (text_at(device, "/backend") != "cuda") continue;
    Facts gpu = device;
    const std::string name = text_at(device, "/name");
    gpu["device"] = name;
    gpu["nvidia_smi"] = nullptr;  // a number of another day
    gpu["data_sheet"] = nullptr;
    gpu["no_tensor_roof"] = nullptr;
    gpu["worn"] = nullptr;  // what it counted during the run
    for (const Facts& one : value_at(environment, "/conditions")) {
      if (text_at(one, "/code") == kWorn && text_at(one, "/device") == name) gpu["worn"] = one;
    }
    gpus.push_back(std::move(gpu));
  }
  if (gpus.empty()) {
    throw UsageError(
        fmt::format("{}: holds no GPU; allowed: the environment.json of a run on GPUs", path));
  }
  return {{"gpus", std::move(gpus)}};
}

// The health of each GPU when its run began, and what it counted until the end.
Findings judge_recorded(const Facts& facts, const Facts& rules) {
  Findings findings;
  for (const Facts& gpu : value_at(facts, "/gpus")) {
    Judge judge(findings, "gpu", label_of(gpu));
    const std::string model = text_at(gpu, "/model");
    judge.ok("gpu_recorded", model.empty() ? "a GPU" : model);
    judge_health(gpu, judge);
    if (const std::string worn = text_at(gpu, "/worn/text"); !worn.empty()) {
      judge.warn(flag_at(gpu, "/worn/severe") ? "worn_severely" : "worn", worn, "");
    }
    if (!rules.is_null()) judge_rules(rules, gpu, judge);
  }
  for (Finding& one : findings) one.help.clear();  // commands are for the machine of the run
  return findings;
}

// The findings of this machine, and what its GPUs break of the rules.
Findings judge_machine(const Facts& facts, const Facts& rules) {
  Findings findings = judge(facts);
  if (rules.is_null()) return findings;
  for (const Facts& gpu : value_at(facts, "/gpus")) {
    Judge judge(findings, "gpu", label_of(gpu));
    judge_rules(rules, gpu, judge);
  }
  return findings;
}

void run_doctor(const Request& request, const std::string& recorded, const std::string& rules_file,
                bool as_json, ExitCode& code) {
  const Facts rules = rules_file.empty() ? Facts(nullptr) : read_rules(rules_file);
  const Facts facts = recorded.empty() ? read_facts(request) : recorded_gpus(recorded);
  const Findings findings =
      recorded.empty() ? judge_machine(facts, rules) : judge_recorded(facts, rules);
  const bool failed =
      std::ranges::any_of(findings, [](const Finding& one) { return one.status == Status::error; });
  if (failed) code = ExitCode::device_lost;
  const std::string verdict = recorded.empty()
                                  ? verdict_of(facts, findings)
                                  : counted(facts["gpus"].size(), "GPU") + ", " +
                                        counted(static_cast<std::size_t>(std::ranges::count(
                                                    findings, Status::warning, &Finding::status)),
                                                "warning");
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
      app.add_subcommand("doctor", "Say what works on this machine, and what helps");
  struct State {
    bool json = false;
    std::string root = "/";
    std::string recorded;
    std::string rules;
    double limit_s = 60;
  };
  const auto state = std::make_shared<State>();
  command->add_flag("--json", state->json, "Print strict JSON");
  add_number(*command, "--timeout", state->limit_s,
             "Seconds in which the driver must answer; default 60");
  command
      ->add_option("--root", state->root,
                   "Folder to read in place of /, for the files of the kernel: /dev, /proc, /sys")
      ->type_name("DIR");
  command
      ->add_option("--recorded", state->recorded,
                   "environment.json of a run: the health of its GPUs when it began, in place of "
                   "this machine")
      ->check(not_empty())
      ->type_name("FILE");
  command
      ->add_option("--rules", state->rules,
                   "Rules of a fleet, as JSON: power limit, driver, ECC, links of each model")
      ->check(not_empty())
      ->type_name("FILE");
  command->callback([state, &code] {
    std::error_code unreadable;
    if (!std::filesystem::is_directory(state->root, unreadable)) {
      throw UsageError(fmt::format(
          "--root {} is not a folder; allowed: a folder to read in place of /", state->root));
    }
    if (!(state->limit_s > 0 && state->limit_s <= doctor::kMostSeconds)) {
      throw UsageError(fmt::format("--timeout {:g}; allowed: above 0, up to {:g} seconds",
                                   state->limit_s, doctor::kMostSeconds));
    }
    doctor::run_doctor({.root = state->root, .limit_s = state->limit_s}, state->recorded,
                       state->rules, state->json, code);
  });
}

}  // namespace ridgebench
