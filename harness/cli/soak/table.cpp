#include "harness/cli/soak/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/cli/text_table.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

constexpr std::size_t kMostUnits = 8;  // numbers of multiprocessors in a cell

std::string units_text(const SoakCount& count) {
  if (count.units.empty()) return "-";
  if (count.units.size() > kMostUnits) return fmt::format("{} of them", count.units.size());
  return fmt::format("{}", fmt::join(std::views::keys(count.units), ","));
}

// "unit_products/...: wrong words of SM 2: 71, SM 5: 3". Empty without a multiprocessor, and of a
// log that has no words of them.
std::string words_text(const SoakCount& count) {
  std::string text;
  for (const auto& [unit, words] : count.units) {
    if (words == 0) return "";
    text += fmt::format("{}SM {}: {}", text.empty() ? "" : ", ", unit, words);
  }
  return text.empty() ? "" : fmt::format("{}: wrong words of {}\n", printable(count.id), text);
}

std::string slower_text(const SoakReport& report, const SoakCount& count) {
  const std::optional<double> slower = count.slower();
  if (!slower) return "";
  return fmt::format("{:+.1f} %{}", 100 * *slower, report.is_slow(count) ? " slow" : "");
}

std::string time_text(const std::optional<double>& seconds) {
  return seconds ? with_unit(*seconds, "s") : "";
}

}  // namespace

std::string soak_verdict(const SoakReport& report) {
  double bytes = 0;
  std::int64_t bits = 0;
  for (const SoakCount& count : report.counts()) {
    bytes += count.bytes;
    bits += count.bits;
  }
  const std::string found =
      report.mismatches() == 0
          ? "no wrong bits"
          : fmt::format("WRONG: {} in {}", counted(static_cast<std::size_t>(bits), "wrong bit"),
                        counted(static_cast<std::size_t>(report.mismatches()), "mismatch"));
  return fmt::format("{} in {} that were compared, in {:.3g} min", printable(found),
                     with_unit(bytes, "B"), report.elapsed_s() / 60);
}

std::string soak_failure(const SoakReport& report) {
  std::string text = soak_verdict(report);
  if (const std::vector<std::string> faults = report.faults(); !faults.empty()) {
    const std::size_t more = faults.size() - 1;
    text += fmt::format("; {}{}", printable(faults.front()),
                        more == 0 ? "" : fmt::format(" and {} more", more));
  }
  for (const std::string& what : report.left_out()) {
    text += fmt::format("; left out {}", printable(what));
  }
  for (const SoakCount& count : report.counts()) {
    if (report.is_slow(count)) {
      text += fmt::format("; {} is {}", printable(count.id), slower_text(report, count));
    }
  }
  return text;
}

std::string soak_text(const SoakReport& report) {
  std::vector<Texts> table{{"kernel or pattern", "launches", "compared", "time", "last round",
                            "mismatches", "words", "bits", "SM"}};
  for (const SoakCount& count : report.counts()) {
    table.push_back({printable(count.id), std::to_string(count.launches),
                     with_unit(count.bytes, "B"), time_text(count.fastest_s),
                     slower_text(report, count), std::to_string(count.mismatches),
                     std::to_string(count.words), std::to_string(count.bits), units_text(count)});
  }
  std::string text = padded_table(table);
  for (const SoakCount& count : report.counts()) text += words_text(count);
  if (report.without_line() > 0) {
    text += fmt::format("soak.jsonl has no line of {}, and counts them\n",
                        counted(static_cast<std::size_t>(report.without_line()), "mismatch"));
  }
  for (const std::string& what : report.left_out()) {
    text += fmt::format("left out {}\n", printable(what));
  }
  for (const std::string& fault : report.faults()) {
    text += fmt::format("FAULT: {}\n", printable(fault));
  }
  const char* const early = report.finished() ? "" : "; the soak did not finish";
  return fmt::format("{}{}{}\n", text, soak_verdict(report), early);
}

}  // namespace ridgebench
