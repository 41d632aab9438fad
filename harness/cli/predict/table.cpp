#include "harness/cli/predict/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/predict/output.hpp"
#include "harness/cli/text_table.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/prediction.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

constexpr double kMostSide = 0x1p20;  // its square is a size of a shape

struct TableOptions {
  std::string n = "8192";
  std::string m;
  std::string format = "bf16";
  std::string device;
  OutputOptions output;
};

struct TableRow {
  std::string name;
  std::string_view operation;
  std::string shape;
};

// A linear layer of n inputs and n outputs on m rows, its backward products, and what surrounds it.
// For Y[m,n] = X[m,n] W[n,n]^T, dX = dY W has layout nn, and dW = dY^T X has tn and sums over m.
std::vector<TableRow> rows_of(std::int64_t n, std::int64_t m) {
  const std::string elements = fmt::format("n:{}", n * n);
  const auto product = [](std::int64_t rows, std::int64_t columns, std::int64_t sums,
                          std::string_view layout) {
    return fmt::format("m:{}/n:{}/k:{}/layout:{}", rows, columns, sums, layout);
  };
  return {{"relu", "relu", elements},
          {"gelu", "gelu", elements},
          {"dot", "dot", elements},
          {"matvec", "matvec", fmt::format("m:{0}/n:{0}", n)},
          {"matmul, one row", "matmul", product(1, n, n, "nt")},
          {"matmul", "matmul", product(m, n, n, "nt")},
          {"matmul dX", "matmul", product(m, n, n, "nn")},
          {"matmul dW", "matmul", product(n, n, m, "tn")},
          {"matmul and gelu, fused", "matmul_gelu", product(m, n, n, "nt")}};
}

bool has_format(const Operation& operation, FormatPair format) {
  return std::ranges::find(operation.formats, format) != operation.formats.end();
}

// The prediction of a row. Throws UsageError if the device lacks a peak.
ordered_json predicted(const TableRow& row, const Operation& operation, FormatPair format,
                       const Roofs& roofs) {
  ordered_json prediction{{"name", row.name}};
  prediction.update(predict(operation, parse_shape(row.shape, operation), format, roofs));
  return prediction;
}

ordered_json answer(const TableOptions& options) {
  const std::int64_t n = count_of("--n", options.n, kMostSide);
  const std::int64_t m = options.m.empty() ? n : count_of("--m", options.m, kMostSide);
  const FormatPair format = parse_measured_format(options.format);
  const Roofs roofs = open_roofs(options.device);
  ordered_json rows = ordered_json::array();
  ordered_json notes = ordered_json::array();
  std::string missing;  // what the device lacks
  const auto leave_out = [&](const std::string& why) {
    if (notes.empty() || notes.back() != why) notes.push_back(why);
  };
  for (const TableRow& row : rows_of(n, m)) {
    const Operation& operation = Registry::instance().operation(row.operation);
    if (!has_format(operation, format)) {
      leave_out(fmt::format("{} has no format {}", operation.name, format.name()));
      continue;
    }
    try {
      rows.push_back(predicted(row, operation, format, roofs));
    } catch (const UsageError& error) {
      missing = error.what();
      leave_out(missing);
    }
  }
  if (rows.empty() && missing.empty()) {
    const auto names =
        Registry::instance().operation("matmul").formats | std::views::transform(&FormatPair::name);
    throw UsageError(fmt::format("no operation has the format {}; allowed: {}", format.name(),
                                 fmt::join(names, ", ")));
  }
  if (rows.empty()) throw UsageError(missing);
  return {{"device", roofs.name()}, {"format", format.name()}, {"n", n}, {"m", m},
          {"rows", rows},           {"notes", notes}};
}

// "memory-bound"; special functions and launches are not said to bind.
std::string verdict_of(const ordered_json& row) {
  const auto bound = row["bound"].get<std::string>();
  if (bound == "special") return "special functions";
  return bound == "launch" ? bound : bound + "-bound";
}

std::string number_or_dash(const ordered_json& value) {
  return value.is_null() ? "-" : fmt::format("{:.4g}", value.get<double>());
}

std::vector<Texts> operations_table(const ordered_json& answer) {
  std::vector<Texts> table{{"operation", "shape", "FLOPs", "bytes", "FLOP/B", "ridge", "verdict",
                            "time at best", "MFU at best"}};
  for (const ordered_json& row : answer["rows"]) {
    const ordered_json& mfu = row["mfu_bound"];
    table.push_back(
        {row["name"].get<std::string>(), shape_text(row["shape"]),
         with_unit(row["flops"].get<double>(), "FLOP"), with_unit(row["bytes"].get<double>(), "B"),
         number_or_dash(row["intensity_flop_per_byte"]), number_or_dash(row["ridge_flop_per_byte"]),
         verdict_of(row), with_unit(row["time_lower_bound_s"].get<double>(), "s"),
         mfu.is_null() ? "-" : fmt::format("{:.3g} %", 100 * mfu.get<double>())});
  }
  return table;
}

std::string table_title(const ordered_json& answer) {
  return fmt::format("{}, {}, n = {}, m = {}", printable(answer["device"].get<std::string>()),
                     answer["format"].get<std::string>(), answer["n"].get<std::int64_t>(),
                     answer["m"].get<std::int64_t>());
}

// The notes of the rows, each once, after the names of its rows.
Texts notes_of_rows(const ordered_json& answer) {
  std::vector<std::pair<std::string, Texts>> found;
  for (const ordered_json& row : answer["rows"]) {
    for (const ordered_json& note : row["notes"]) {
      const auto text = note.get<std::string>();
      auto known = std::ranges::find(found, text, &std::pair<std::string, Texts>::first);
      if (known == found.end()) known = found.insert(found.end(), {text, {}});
      known->second.push_back(row["name"].get<std::string>());
    }
  }
  Texts notes;
  for (const auto& [text, names] : found) {
    notes.push_back(fmt::format("{}: {}", fmt::join(names, "; "), printable(text)));
  }
  return notes;
}

std::string table_text(const ordered_json& answer) {
  std::string text =
      fmt::format("{}\n\n{}", table_title(answer), padded_table(operations_table(answer)));
  for (const std::string& note : notes_of_rows(answer)) text += fmt::format("note: {}\n", note);
  return text + notes_text(answer, "note: left out: {}\n");
}

std::string table_markdown(const ordered_json& answer) {
  std::string text =
      fmt::format("## {}\n\n{}", table_title(answer), markdown_table(operations_table(answer)));
  for (const std::string& note : notes_of_rows(answer)) text += fmt::format("\nNote: {}.\n", note);
  return text + notes_text(answer, "\nLeft out: {}.\n", markdown_text);
}

std::string table_csv(const ordered_json& answer) {
  return csv_of({answer["rows"].begin(), answer["rows"].end()});
}

}  // namespace

void add_predict_table_command(CLI::App& predict) {
  CLI::App* command = predict.add_subcommand(
      "table", "Compute the roofline of all operations of a linear layer, with verdicts");
  const auto options = std::make_shared<TableOptions>();
  command->add_option("--n", options->n, "Inputs and outputs of the layer; n x n elements")
      ->capture_default_str();
  command->add_option("--m", options->m, "Rows of the batch; default: n")->check(not_empty());
  command->add_option("--format", options->format, "Format of the inputs")
      ->capture_default_str()
      ->type_name("FORMAT");
  command
      ->add_option("--on", options->device, "A data sheet by name or file, or a results directory")
      ->required()
      ->type_name("SHEET");
  options->output.add_to(*command, "Print CSV: a line per operation");
  command->callback([options] {
    options->output.print("predict_table", answer(*options), table_text, table_csv, table_markdown);
  });
}

}  // namespace ridgebench
