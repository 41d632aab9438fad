#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/print_json.hpp"
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
  const auto kind = row["class"].get<std::string>();
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
  if (!answer["value"].is_null()) print_losses(answer);
}

}  // namespace

void add_number_command(CLI::App& app) {
  struct State {
    std::string text;
    std::string format;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  CLI::App* command =
      app.add_subcommand("number", "Round a number to every format, or decode bits");
  command
      ->add_option("number", state->text,
                   "A number: 1e-8, 0.15625, 65520; or bits, the sign first: 0x3e200000, "
                   "0b0_01100_0100000000")
      ->required();
  command
      ->add_option(
          "--format", state->format,
          "One format, fp4 (also nvfp4, mxfp4) too; default: all, or those with as many bits")
      ->check(not_empty())
      ->type_name("FORMAT");
  command->add_flag("--json", state->json, "Print strict JSON");
  command->callback([state] {
    const ordered_json answer = number_in_formats(state->text, state->format);
    if (state->json)
      print_answer("number", answer);
    else
      print_number(answer);
  });
}

}  // namespace ridgebench
