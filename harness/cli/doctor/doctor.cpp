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
#include "harness/results/verify/results_tree.hpp"
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

void judge_worn(const Facts& condition, Judge& judge) {
  judge.warn(flag_at(condition, "/severe") ? "worn_severely" : "worn", text_at(condition, "/text"),
             "");
}

// Reports the counters of faults that grew during the runs of a results folder or of a node. Throws
// UsageError.
Findings judge_growth(const std::string& directory, ExitCode& code) {
  Findings findings;
  const std::vector<std::string> folders = paths_of_results(directory);
  if (folders.empty()) {
    throw UsageError(fmt::format(
        "{} holds no results folder; allowed: a results folder, or that of a node", directory));
  }
  for (const std::string& folder : folders) {
    const std::string path = folder + "/environment.json";
    const Facts environment = parse_json(read_file(path), path);
    for (const Facts& one : value_at(environment, "/conditions")) {
      if (text_at(one, "/code") != kWorn) continue;
      Judge judge(findings, "gpu", text_at(one, "/device"));
      judge_worn(one, judge);
      code = ExitCode::row_failed;
    }
    if (!value_at(environment, "/state/after").is_null()) continue;
    Judge(findings, "gpu")
        .warn("worn_unknown", fmt::format("{}: the run did not end, and read no counters", folder),
              "");
    code = std::max(code, ExitCode::undecided);
  }
  if (findings.empty()) Judge(findings, "gpu").ok("not_worn", "no counter of faults grew");
  return findings;
}

// The health of each GPU when its run began, and what it counted until the end.
Findings judge_recorded(const Facts& facts, const Facts& rules) {
  Findings findings;
  for (const Facts& gpu : value_at(facts, "/gpus")) {
    Judge judge(findings, "gpu", label_of(gpu));
    const std::string model = text_at(gpu, "/model");
    judge.ok("gpu_recorded", model.empty() ? "a GPU" : model);
    judge_health(gpu, judge);
    if (!text_at(gpu, "/worn/text").empty()) judge_worn(value_at(gpu, "/worn"), judge);
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

std::string warnings_of(const Findings& findings) {
  return counted(
      static_cast<std::size_t>(std::ranges::count(findings, Status::warning, &Finding::status)),
      "warning");
}

void print(const Facts& facts, const Findings& findings, const std::string& verdict, bool as_json,
           ExitCode& code) {
  const bool failed =
      std::ranges::any_of(findings, [](const Finding& one) { return one.status == Status::error; });
  if (failed) code = ExitCode::device_lost;
  if (!as_json) {
    print_findings(findings, verdict);
    return;
  }
  Facts list = Facts::array();
  for (const Finding& finding : findings) list.push_back(json_of(finding));
  print_answer("doctor",
               {{"usable", !failed}, {"verdict", verdict}, {"findings", list}, {"facts", facts}});
}

void run_doctor(const Request& request, const std::string& recorded, const std::string& rules_file,
                bool as_json, ExitCode& code) {
  const Facts rules = rules_file.empty() ? Facts(nullptr) : read_rules(rules_file);
  const Facts facts = recorded.empty() ? read_facts(request) : recorded_gpus(recorded);
  const Findings findings =
      recorded.empty() ? judge_machine(facts, rules) : judge_recorded(facts, rules);
  const std::string verdict =
      recorded.empty()
          ? verdict_of(facts, findings)
          : fmt::format("{}, {}", counted(facts["gpus"].size(), "GPU"), warnings_of(findings));
  print(facts, findings, verdict, as_json, code);
}

void judge_worn_parts(const std::string& directory, bool as_json, ExitCode& code) {
  const Findings findings = judge_growth(directory, code);
  print({{"gpus", Facts::array()}}, findings, warnings_of(findings), as_json, code);
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
    std::string worn;
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
  command
      ->add_option("--worn", state->worn,
                   "Results folder, or that of a node: exit code 6 if a counter of faults of a GPU "
                   "grew during the run")
      ->check(not_empty())
      ->excludes("--recorded")
      ->excludes("--rules")
      ->type_name("DIR");
  command->callback([state, &code] {
    if (!state->worn.empty()) {
      doctor::judge_worn_parts(state->worn, state->json, code);
      return;
    }
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
