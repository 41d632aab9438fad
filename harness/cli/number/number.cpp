#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/text_table.hpp"
#include "kernels/common/error.hpp"
#include "roofline/histogram.hpp"
#include "roofline/rounding.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

std::string digits_of(const ordered_json& row) {
  return fmt::format("{} {} {}", row["sign"].get<std::string>(), row["exponent"].get<std::string>(),
                     row["mantissa"].get<std::string>());
}

std::string decoded_text(const ordered_json& row) {
  if (row["decoded"].is_null()) return row["exact"].get<std::string>();
  return fmt::format("{:.10g}", row["decoded"].get<double>());
}

// "exact", "rounded, error 6.1e-09", "overflow: infinity", "underflow: 0", "normal".
std::string remark_of(const ordered_json& row) {
  auto kind = row["class"].get<std::string>();
  if (row["outcome"].is_null()) return kind;
  const auto outcome = row["outcome"].get<std::string>();
  const std::string result = decoded_text(row);
  if (outcome == "overflow" || outcome == "underflow") {
    return fmt::format("{} to {}", outcome, result);
  }
  if (outcome == "saturates") return fmt::format("overflow: saturates at {}", result);
  const std::string small = kind == "subnormal" ? ", subnormal" : "";
  if (row["relative_error"].is_null() || outcome == "exact") return outcome + small;
  return fmt::format("rounded, error {:+.2g} %{}", 100 * row["relative_error"].get<double>(),
                     small);
}

// "1e-08 is 0 in fp16, fp8_e4m3": what happens to a number in the formats that cannot hold it.
void print_losses(const ordered_json& answer) {
  struct Loss {
    std::string_view outcome;
    std::string_view text;
  };
  constexpr std::array kLosses{Loss{"underflow", "underflows to 0 in"},
                               Loss{"overflow", "overflows to infinity in"},
                               Loss{"saturates", "saturates in"}};
  bool lost = false;
  std::vector<std::string> survives;
  for (const auto& [outcome, text] : kLosses) {
    std::vector<std::string> formats;
    for (const ordered_json& row : answer["formats"]) {
      if (row["outcome"] == outcome) formats.push_back(row["format"].get<std::string>());
    }
    if (formats.empty()) continue;
    fmt::print("{} {} {}\n", lost ? "It" : "\nIt", text, fmt::join(formats, ", "));
    lost = true;
  }
  for (const ordered_json& row : answer["formats"]) {
    const bool held = row["outcome"] == "exact" || row["outcome"] == "rounded";
    if (held) survives.push_back(row["format"].get<std::string>());
  }
  if (lost && !survives.empty()) fmt::print("It survives in {}\n", fmt::join(survives, ", "));
}

void print_number(const ordered_json& answer) {
  fmt::print("{}\n\n{:<9} {:<10}  {:<34} {:>17}  {:<19} {}\n",
             printable(answer["number"].get<std::string>()), "format", "bits",
             "s exponent mantissa", "value", "exactly", "rounding");
  for (const ordered_json& row : answer["formats"]) {
    fmt::print("{:<9} {:<10}  {:<34} {:>17}  {:<19} {}\n", row["format"].get<std::string>(),
               row["bits"].get<std::string>(), digits_of(row), decoded_text(row),
               row["exact"].get<std::string>(), remark_of(row));
  }
  fmt::print(
      "\n(-1)^s x significand x 2^(exponent - bias), a subnormal with 0.f and exponent 1:\n");
  for (const ordered_json& row : answer["formats"]) {
    if (row["decoding"].is_null()) continue;
    const auto decoding = row["decoding"].get<std::string>();
    fmt::print("{:<9} {} = {}{:.10g} x 2^{}\n", row["format"].get<std::string>(), decoding,
               decoding.starts_with('-') ? "-" : "", row["significand"].get<double>(),
               row["power"].get<int>());
  }
  if (!answer["value"].is_null()) print_losses(answer);
}

std::string share_text(const ordered_json& share) {
  return fmt::format("{:.4g} %", 100 * share.get<double>());
}

// The bins as bars, then a table of what each format loses, without and with the scale.
void print_histogram(const ordered_json& answer) {
  constexpr double kColumns = 40;
  constexpr double kShown = 1e-3;  // smaller bins have no bar
  const ordered_json& count = answer["count"];
  fmt::print("{}{}\n\nmagnitude      share\n", printable(answer["source"].get<std::string>()),
             count.is_null() ? ""
                             : fmt::format(", {:.0f} numbers, {:.0f} of them 0",
                                           count.get<double>(), answer["zeros"].get<double>()));
  double most = 0;
  for (const ordered_json& bin : answer["bins"]) most = std::max(most, bin["share"].get<double>());
  for (const ordered_json& bin : answer["bins"]) {
    const double share = bin["share"].get<double>();
    if (share < kShown) continue;
    const auto columns = static_cast<std::size_t>(std::lround(share / most * kColumns));
    fmt::print("from 2^{:<5} {:>8}{}{}\n", bin["exponent"].get<int>(), share_text(bin["share"]),
               columns > 0 ? "  " : "", std::string(columns, '#'));
  }
  std::vector<Texts> table{{"format", "underflow", "subnormal", "overflow"}};
  const auto scale = answer["scale"].get<double>();
  if (scale != 1) {
    for (const char* const key : {"underflow", "subnormal", "overflow"}) {
      table.front().push_back(fmt::format("{} x {:g}", key, scale));
    }
  }
  for (const ordered_json& row : answer["formats"]) {
    Texts cells{row["format"].get<std::string>()};
    for (const ordered_json& share : row["unscaled"]) cells.push_back(share_text(share));
    if (scale != 1) {
      for (const ordered_json& share : row["scaled"]) cells.push_back(share_text(share));
    }
    table.push_back(std::move(cells));
  }
  fmt::print("\n{}", padded_table(table));
}

}  // namespace

void add_number_command(CLI::App& app) {
  struct State {
    std::string text;
    std::string format;
    std::string source;
    double scale = 1;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  CLI::App* command =
      app.add_subcommand("number", "Round a number to every format, or decode bits");
  CLI::Option* const number =
      command->add_option("number", state->text,
                          "A number: 1e-8, 0.15625, 65520; or bits, the sign first: 0x3e200000, "
                          "0b0_01100_0100000000");
  command
      ->add_option(
          "--format", state->format,
          "One format, fp4 (also nvfp4, mxfp4), mxfp8, and of scales ue8m0 and ue4m3 too; default: "
          "all but those of scales, or those with as many bits")
      ->check(not_empty())
      ->type_name("FORMAT");
  CLI::Option* const source =
      command
          ->add_option("--histogram", state->source,
                       "Instead of a number: what each format loses of the numbers in a file, or "
                       "of a normal distribution, normal:SIGMA")
          ->check(not_empty())
          ->type_name("FILE");
  add_number(*command, "--scale", state->scale,
             "Multiply the numbers of --histogram first, as loss scaling does: 1024 (1)")
      ->needs(source);
  command->add_flag("--json", state->json, "Print strict JSON");
  command->callback([state, number, source] {
    if (number->count() + source->count() == 0) throw CLI::RequiredError("number");
    if (number->count() > 0 && source->count() > 0) {
      throw UsageError("number: give a number or --histogram; allowed: one of them");
    }
    const bool many = source->count() > 0;
    const ordered_json answer = many ? histogram(state->source, state->scale, state->format)
                                     : number_in_formats(state->text, state->format);
    if (state->json) {
      print_answer(many ? "number_histogram" : "number", answer);
    } else if (many) {
      print_histogram(answer);
    } else {
      print_number(answer);
    }
  });
}

}  // namespace ridgebench
