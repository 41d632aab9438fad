#include "harness/cli/verify.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/google_benchmark.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/results/judged/judged.hpp"
#include "harness/results/record.hpp"
#include "harness/results/step_rows.hpp"
#include "harness/results/verify/checks.hpp"
#include "harness/results/verify/results_tree.hpp"
#include "harness/results/verify/signature.hpp"
#include "harness/results/verify/verify_duels.hpp"
#include "harness/results/verify/verify_results.hpp"
#include "harness/results/verify/verify_soak.hpp"
#include "harness/results/worn.hpp"
#include "harness/step/verify_step.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"
#include "roofline/units.hpp"

namespace ridgebench {

namespace {

using nlohmann::ordered_json;

// The text of a file that the run derived from its rows, as JSON; empty without the file. Throws
// UsageError.
std::optional<ordered_json> derived_file(const std::string& directory, const char* name) {
  const std::string path = (std::filesystem::path(directory) / name).string();
  if (!std::filesystem::exists(path)) return std::nullopt;
  const std::string text = read_file(path);
  static_cast<void>(parse_json(text, path));
  return parse_ordered(text);
}

// The first problem of many, and how many others a file has.
void add_first(std::vector<std::string> found, std::vector<std::string>& problems) {
  if (found.empty()) return;
  const std::size_t others = found.size() - 1;
  problems.push_back(others == 0
                         ? found.front()
                         : fmt::format("{}; and {} more", found.front(), counted(others, "value")));
}

// judged.json of another version of the rules is not compared: readers judge its run again.
void check_judgement(const std::string& directory, const ordered_json& stored,
                     std::vector<std::string>& problems) {
  if (!stored.is_object() || stored.value("schema", ordered_json()) != kJudgedSchema) return;
  std::vector<std::string> found;
  Checker check(kJudgedFile, found);
  Comparison(check, [](const std::string&, std::string_view) {
    return Older::nothing;
  }).compare(stored, parse_ordered(judged_text(directory)), "");
  add_first(std::move(found), problems);
}

// The benchmarks of a report of Google Benchmark, by name.
std::map<std::string, ordered_json> benchmarks_of(const ordered_json& report) {
  std::map<std::string, ordered_json> benchmarks;
  if (!report.is_object() || !report.contains("benchmarks")) return benchmarks;
  for (const ordered_json& one : report.at("benchmarks")) {
    if (one.is_object() && one.contains("name")) benchmarks.emplace(json_line(one["name"]), one);
  }
  return benchmarks;
}

// True for a run from when the project had its former name. Its report has the time of the
// processor in cpu_time, which follows from no record.
bool has_former_name(const std::string& directory) {
  const std::string path = (std::filesystem::path(directory) / "environment.json").string();
  const nlohmann::json environment = parse_json(read_file(path), path);
  return JsonObject(environment, path).text("schema") != kEnvironmentSchema;
}

// A resumed run reports its rows in another order than its records have, and versions of Google
// Benchmark differ in their keys.
void check_report(const std::string& directory, const ordered_json& stored,
                  std::vector<std::string>& problems) {
  constexpr std::array<std::string_view, 3> kOurs{"real_time", "cpu_time", "time_unit"};
  std::vector<std::string> found;
  Checker check(kReportFile, found);
  const Comparison::Lacks lacks = [&](const std::string& key, std::string_view) {
    return std::ranges::find(kOurs, key) == kOurs.end() ? Older::key : Older::nothing;
  };
  const bool measured_cpu_time = has_former_name(directory);
  const auto reported = benchmarks_of(stored);
  const auto follow = benchmarks_of(parse_ordered(report_of_rows(read_records(directory))));
  for (const auto& [name, benchmark] : follow) {
    const auto same = reported.find(name);
    check.require(same != reported.end(), fmt::format("{} is missing", name));
    if (same == reported.end()) continue;
    ordered_json ours;
    for (const auto& [key, value] : benchmark.items()) {
      const bool older = measured_cpu_time && key == "cpu_time";
      if (!older && !key.ends_with("index")) ours[key] = value;
    }
    Comparison(check, lacks).compare(same->second, ours, name);
  }
  for (const auto& [name, unused] : reported) {
    check.require(follow.contains(name), fmt::format("{} is not in the records", name));
  }
  add_first(std::move(found), problems);
}

// The problems of a results folder. Throws UsageError for what cannot be read or does not follow
// its format.
std::vector<std::string> problems_of_folder(const std::string& directory, Ending ending) {
  const std::optional<ordered_json> judgement = derived_file(directory, kJudgedFile);
  const std::optional<ordered_json> report = derived_file(directory, kReportFile);
  if (holds_duels(directory)) return verify_duels(directory);
  if (holds_soak(directory)) return verify_soak(directory, ending);
  if (holds_step(directory)) return verify_step(directory);
  std::vector<std::string> problems = verify_results(directory, ending);
  // They follow from sound rows only, and a run that goes on writes them again.
  if (!problems.empty() || ending == Ending::open) return problems;
  if (judgement) check_judgement(directory, *judgement, problems);
  if (report) check_report(directory, *report, problems);
  return problems;
}

struct VerifyOptions {
  std::string directory;
  std::string signers;
};

std::int64_t external_rows(const std::string& directory) {
  if (!std::filesystem::exists(std::filesystem::path(directory) / kRecordsFile)) return 0;
  return std::ranges::count(read_records(directory), Origin::external, &Record::origin);
}

// Returns the results folders of a tree, or the folder if it is a results folder itself.
std::vector<std::string> folders_of(const std::string& directory) {
  if (!is_results_tree(directory)) return {directory};
  std::vector<std::string> folders;
  for (const std::filesystem::path& folder : results_folders_of(directory)) {
    folders.push_back((directory / folder).string());
  }
  return folders;
}

}  // namespace

std::vector<std::string> problems_of_results(const std::string& directory) {
  if (is_results_tree(directory)) return problems_of_tree(directory, problems_of_folder);
  try {
    return problems_of_folder(directory, Ending::whole);
  } catch (const UnreadableFile&) {
    throw;
  } catch (const UsageError& error) {
    std::vector<std::string> problems{error.what()};
    std::ranges::move(checksum_problems(directory), std::back_inserter(problems));
    return problems;
  }
}

std::vector<std::string> found_by_soaks(const std::string& directory) {
  std::vector<std::string> found;
  for (const std::string& folder : folders_of(directory)) {
    if (!holds_soak(folder)) continue;
    try {
      for (const std::string& text : found_by_soak(folder)) {
        found.push_back(fmt::format("{}: {}", folder, text));
      }
    } catch (const UsageError&) {  // problems_of_results() names it
    }
  }
  return found;
}

std::vector<std::string> findings_of_results(const std::string& directory) {
  std::vector<std::string> findings;
  const auto add = [&](const std::string& folder, const std::string& text) {
    findings.push_back(fmt::format("{}: {}", printable(folder), printable(text)));
  };
  if (is_results_tree(directory)) {
    for (const std::string& state : states_of_tree(directory)) add(directory, state);
  }
  for (const std::string& folder : folders_of(directory)) {
    if (!std::filesystem::exists(std::filesystem::path(folder) / "environment.json")) continue;
    for (const std::string& text : recorded_worn_in(folder)) add(folder, text);
  }
  return findings;
}

namespace {

ExitCode verify_folder(const VerifyOptions& options) {
  const std::string& directory = options.directory;
  const bool tree = is_results_tree(directory);
  std::vector<std::string> problems = problems_of_results(directory);
  if (tree) std::ranges::move(sums_problems_of_tree(directory), std::back_inserter(problems));
  const std::vector<std::string> wrong = found_by_soaks(directory);
  for (const std::string& problem : problems) print_problem(problem);
  for (const std::string& found : wrong) print_problem(found);
  const SignatureCheck signature = check_signature(directory, options.signers);
  if (signature.problem) print_problem(*signature.problem);
  if (!problems.empty() || signature.problem) return ExitCode::row_failed;
  if (!wrong.empty()) {
    if (signature.note) fmt::print("{}: {}\n", printable(directory), printable(*signature.note));
    return ExitCode::row_failed;
  }
  const std::vector<std::string> folders = folders_of(directory);
  std::int64_t foreign = 0;
  for (const std::string& folder : folders) foreign += external_rows(folder);
  fmt::print("{}: sound{}{}\n", printable(directory),
             tree ? fmt::format("; {}", counted(folders.size(), "results folder")) : "",
             foreign == 0 ? "" : fmt::format("; {} external rows, unverified", foreign));
  if (signature.note) fmt::print("{}: {}\n", printable(directory), printable(*signature.note));
  for (const std::string& finding : findings_of_results(directory)) fmt::print("{}\n", finding);
  return ExitCode::fine;
}

}  // namespace

void add_verify_command(CLI::App& app, ExitCode& code) {
  CLI::App* command =
      app.add_subcommand("verify", "Check files, arithmetic and physics of results");
  const auto options = std::make_shared<VerifyOptions>();
  command->add_option("directory", options->directory, kSoundFolderHelp)
      ->required()
      ->check(not_empty())
      ->type_name("DIR");
  command
      ->add_option("--signers", options->signers,
                   "File of allowed signers, one of whom must have signed (ssh-keygen(1))")
      ->check(not_empty())
      ->type_name("FILE");
  command->callback([options, &code] { code = verify_folder(*options); });
}

}  // namespace ridgebench
