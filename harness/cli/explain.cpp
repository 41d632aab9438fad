#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "harness/base/filter.hpp"
#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/text_table.hpp"
#include "harness/results/explained/explained.hpp"
#include "harness/results/keyed_json.hpp"
#include "kernels/common/error.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

constexpr const char* kNewestRun = "results/local/latest";

struct ExplainOptions {
  std::vector<std::string> words;
  bool json = false;
};

struct Question {
  std::string folder = kNewestRun;
  std::vector<std::string> rows;  // ids, or regular expressions of ids; empty: all rows
};

// The first word that is a folder names the run; the others choose rows.
Question question_of(const ExplainOptions& options) {
  Question question;
  bool named = false;
  for (const std::string& word : options.words) {
    std::error_code ignored;
    if (!named && std::filesystem::is_directory(word, ignored)) {
      question.folder = word;
      named = true;
    } else {
      question.rows.push_back(word);
    }
  }
  std::error_code ignored;
  if (!named && !std::filesystem::is_directory(kNewestRun, ignored)) {
    throw UsageError(fmt::format(
        "explain: {} is not a folder; allowed: explain DIR [ROW...], or ROW... where {} exists",
        question.rows.empty() ? kNewestRun : printable(question.rows.front()), kNewestRun));
  }
  return question;
}

// Keeps the rows that the command line names, in its order.
void choose_rows(ExplainedRun& run, const std::vector<std::string>& asked) {
  if (asked.empty()) return;
  std::vector<ExplainedRow> chosen;
  for (const std::string& word : asked) {
    const bool is_id = std::ranges::find(run.rows, word, &ExplainedRow::id) != run.rows.end();
    const Filter filter(is_id ? "" : word);
    bool any = false;
    for (const ExplainedRow& row : run.rows) {
      if (is_id ? row.id != word : !filter.matches(row.id)) continue;
      any = true;
      if (std::ranges::find(chosen, row.id, &ExplainedRow::id) == chosen.end()) {
        chosen.push_back(row);
      }
    }
    if (!any) {
      throw UsageError(fmt::format(
          "explain: no row of a kernel or a link in {} matches '{}'; allowed: a folder, the id "
          "of a row, or a regular expression of ids",
          printable(run.folder), printable(word)));
    }
  }
  run.rows = std::move(chosen);
}

std::string factor_text(const std::optional<double>& factor) {
  return factor ? fmt::format("x {:.2f}", *factor) : "";
}

// Prints a label and a text that continues in its own column.
void print_labelled(std::string_view label, const std::string& text) {
  constexpr std::size_t kMargin = 21;
  fmt::print("  {:<{}}{}\n", label, kMargin - 2, wrapped(printable(text), kMargin, kTextColumns));
}

// A name, its numbers and two sentences that fit 80 columns.
void print_run_causes(const std::vector<RunCause>& causes) {
  for (const RunCause& one : causes) {
    fmt::print("\n{}: {} of {} rows{}\n", printable(one.code()), one.rows, one.of_rows,
               one.factor() ? fmt::format(", up to {:.2f} times as long", *one.factor()) : "");
    for (const std::string& text : {one.evidence(), one.remedy()}) {
      fmt::print("  {}\n", wrapped(printable(text), 2, kTextColumns));
    }
  }
}

std::string limit_text(const ExplainedRow& row) {
  if (!row.limit) return "unknown: no measured roof";
  std::string ceilings;
  for (const std::string& id : row.limited_by) ceilings += (ceilings.empty() ? "" : ", ") + id;
  return fmt::format("{}{}", name(*row.limit), ceilings.empty() ? "" : ", by " + ceilings);
}

std::string distance_text(const ExplainedRow& row) {
  std::string text = fmt::format("{} a launch", with_unit(*row.time_s, "s"));
  if (row.least_time_s) {
    text += fmt::format(", {} at least by its roof: {:.2f} times as long",
                        with_unit(*row.least_time_s, "s"), *row.time_s / *row.least_time_s);
  }
  if (row.fraction_of_measured_roof) {
    text += fmt::format(", {}", percent_text(*row.fraction_of_measured_roof));
  }
  return text;
}

void print_row(const ExplainedRow& row) {
  fmt::print("\n{}\n", printable(row.id));
  if (!row.time_s) {
    fmt::print("  {}: {}\n", name(row.status), printable(row.reason.value_or("no time")));
    return;
  }
  print_labelled("limit", limit_text(row));
  print_labelled("distance", distance_text(row));
  if (row.energy) print_labelled("energy", row.energy->text());
  for (const Cause& cause : row.causes) {
    print_labelled(printable(cause.code),
                   cause.evidence +
                       (cause.factor ? fmt::format(": {:.2f} times as long", *cause.factor) : ""));
    print_labelled("", cause.remedy);
  }
  if (row.causes.empty()) {
    print_labelled("cause", row.fraction_of_measured_roof.value_or(0) >= kNearRoof
                                ? "none: the row is near its roof"
                                : "the record shows none outside of the kernel");
  }
  if (row.mover) print_labelled("to move the limit", *row.mover);
}

// One line a row: how far it is, and its first cause.
void print_all(std::vector<ExplainedRow> rows) {
  std::ranges::sort(rows, {}, &ExplainedRow::id);
  std::vector<Texts> table{{"row", "roof", "limit", "slower", "first cause"}};
  for (const ExplainedRow& row : rows) {
    if (!row.time_s) continue;
    const Cause* const first = row.causes.empty() ? nullptr : &row.causes.front();
    const auto& share = row.fraction_of_measured_roof;
    table.push_back({printable(row.id), share ? percent_text(*share) : "",
                     std::string(row.limit ? name(*row.limit) : ""),
                     first != nullptr ? factor_text(first->factor) : "",
                     first != nullptr ? printable(first->code) : ""});
  }
  if (table.size() > 1) fmt::print("\n{}", padded_table(table));
}

void print_explained(const ExplainedRun& run, bool asked) {
  for (const std::string& sentence : run.findings) {
    fmt::print("{}\n", wrapped(printable(sentence), 0, kTextColumns));
  }
  if (asked) {
    for (const ExplainedRow& row : run.rows) print_row(row);
  } else {
    print_run_causes(run.causes);
    print_all(run.rows);
  }
}

}  // namespace

void add_explain_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("explain", "Explain why rows are slow: limits, causes, evidence");
  const auto options = std::make_shared<ExplainOptions>();
  command
      ->add_option("words", options->words,
                   "A results folder (results/local/latest by default), and rows: ids, or regular "
                   "expressions of ids")
      ->check(not_empty())
      ->type_name("DIR|ROW");
  command->add_flag("--json", options->json, "Print strict JSON");
  command->callback([options] {
    const Question question = question_of(*options);
    ExplainedRun run = explain(judge(question.folder));
    choose_rows(run, question.rows);
    if (options->json) {
      print_answer("explained", object_json(run));
    } else {
      print_explained(run, !question.rows.empty());
    }
  });
}

}  // namespace ridgebench
