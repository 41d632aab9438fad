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
#include "harness/cli/node/rows.hpp"
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

// The rows whose result is wrong.
std::vector<std::string> wrong_rows(const std::string& directory) {
  std::vector<std::string> lines;
  for (const Record& record : read_records(directory)) {
    if (record.status != Status::wrong) continue;
    lines.push_back(fmt::format("{} is wrong: {}", record.id, record.reason.value_or("")));
  }
  return lines;
}

Verified check_by_kind(const std::string& directory, Ending ending) {
  const std::optional<ordered_json> judgement = derived_file(directory, kJudgedFile);
  const std::optional<ordered_json> report = derived_file(directory, kReportFile);
  if (holds_duels(directory)) return {.problems = verify_duels(directory)};
  if (holds_soak(directory)) return verify_soak(directory, ending);
  if (holds_step(directory)) return {.problems = verify_step(directory)};
  Verified found{.problems = verify_results(directory, ending), .wrong = wrong_rows(directory)};
  // They follow from sound rows only, and a run that goes on writes them again.
  if (!found.problems.empty() || ending == Ending::open) return found;
  if (judgement) check_judgement(directory, *judgement, found.problems);
  if (report) check_report(directory, *report, found.problems);
  return found;
}

// Checks a results folder. Throws UsageError for what cannot be read or does not follow its format.
Verified check_folder(const std::string& directory, Ending ending) {
  Verified found = check_by_kind(directory, ending);
  for (std::string& line : found.wrong) line = fmt::format("{}: {}", directory, line);
  return found;
}

// Adds the GPUs of the tree's nodes whose bits others outvote: node.json has only their exit code.
void add_votes(const std::filesystem::path& tree, Verified& found) {
  for (const std::filesystem::path& below : measured_nodes_of(tree)) {
    const std::filesystem::path folder = below.empty() ? tree : tree / below;
    try {
      const node::NodeRun run = node::read_node_run(folder, node::kRunWork);
      for (const node::OddBits& odd : node::read_rows(run).odd_bits) {
        if (!odd.wrong) continue;
        found.wrong.push_back(
            fmt::format("{}: {}: {}", folder.string(), run.gpus[odd.gpu].device(), odd.text));
      }
    } catch (const UsageError& error) {
      const bool named = std::ranges::find(found.problems, error.what()) != found.problems.end();
      if (!named) found.problems.emplace_back(error.what());
    }
  }
}

struct VerifyOptions {
  std::string directory;
  std::string signers;
};

std::int64_t external_rows(const std::string& directory) {
  if (!std::filesystem::exists(std::filesystem::path(directory) / kRecordsFile)) return 0;
  return std::ranges::count(read_records(directory), Origin::external, &Record::origin);
}

}  // namespace

Verified check_results(const std::string& directory) {
  if (is_results_tree(directory)) {
    Verified found = check_tree(directory, check_folder);
    add_votes(directory, found);
    return found;
  }
  try {
    return check_folder(directory, Ending::whole);
  } catch (const UnreadableFile&) {
    throw;
  } catch (const UsageError& error) {
    Verified found{.problems = {error.what()}};
    std::ranges::move(checksum_problems(directory), std::back_inserter(found.problems));
    return found;
  }
}

std::vector<std::string> findings_of_results(const std::string& directory) {
  std::vector<std::string> findings;
  const auto add = [&](const std::string& folder, const std::string& text) {
    findings.push_back(fmt::format("{}: {}", printable(folder), printable(text)));
  };
  if (is_results_tree(directory)) {
    for (const std::string& state : states_of_tree(directory)) add(directory, state);
  }
  for (const std::string& folder : paths_of_results(directory)) {
    if (!std::filesystem::exists(std::filesystem::path(folder) / "environment.json")) continue;
    for (const std::string& text : recorded_worn_in(folder)) add(folder, text);
  }
  return findings;
}

namespace {

// Checks the results and, of signed ones, that no file came after the signature.
Verified check_with_signed_files(const std::string& directory) {
  Verified found = check_results(directory);
  std::vector<std::string> of_files;
  if (is_results_tree(directory)) {
    of_files = sums_problems_of_tree(directory);
  } else if (is_signed(directory)) {
    of_files = sums_problems(directory, signed_files(directory));
  }
  for (std::string& problem : of_files) {
    const bool named = std::ranges::find(found.problems, problem) != found.problems.end();
    if (!named) found.problems.push_back(std::move(problem));
  }
  return found;
}

ExitCode verify_folder(const VerifyOptions& options) {
  const std::string& directory = options.directory;
  const bool tree = is_results_tree(directory);
  const auto [problems, wrong] = check_with_signed_files(directory);
  for (const std::string& problem : problems) print_problem(problem);
  for (const std::string& line : wrong) print_problem(line);
  const SignatureCheck signature = check_signature(directory, options.signers);
  if (signature.problem) print_problem(*signature.problem);
  if (!problems.empty() || signature.problem) return ExitCode::row_failed;
  if (!wrong.empty()) {
    if (signature.note) fmt::print("{}: {}\n", printable(directory), printable(*signature.note));
    return ExitCode::row_failed;
  }
  const std::vector<std::string> folders = paths_of_results(directory);
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
