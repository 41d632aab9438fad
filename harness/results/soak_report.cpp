#include "harness/results/soak_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/results/files/results_files.hpp"
#include "harness/results/worn.hpp"
#include "kernels/common/number.hpp"
#include "roofline/json_object.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

constexpr Range kAnyCount{0, kLargestCount};
constexpr Range kAnyNumber{0, 1e300};

}  // namespace

std::optional<double> SoakCount::slower() const {
  if (!fastest_s || !last_s) return std::nullopt;
  return *last_s / *fastest_s - 1;
}

ordered_json numbers_of(const std::map<std::int64_t, std::int64_t>& units) {
  ordered_json numbers = ordered_json::array();
  for (const auto& [unit, words] : units) numbers.push_back(unit);
  return numbers;
}

ordered_json words_by_number(const std::map<std::int64_t, std::int64_t>& units) {
  ordered_json words = ordered_json::object();
  for (const auto& [unit, of_unit] : units) words[std::to_string(unit)] = of_unit;
  return words;
}

std::string SoakFault::text() const {
  if (readings < 2) return growth.text();
  return fmt::format("{}: in {} readings, from {:.4g} s to {:.4g} s", growth.text(), readings,
                     first_s, last_s);
}

SoakCount& SoakReport::count_of(const std::string& id) {
  const auto found = std::ranges::find(counts_, id, &SoakCount::id);
  if (found != counts_.end()) return *found;
  return counts_.emplace_back(SoakCount{.id = id});
}

void SoakReport::add(const nlohmann::json& event, const std::string& origin) {
  const JsonObject line(event, origin);
  const std::string kind = line.text("event");
  ++events_;
  const auto require = [&](bool holds, const char* rule) {
    if (!holds) misplaced_.push_back(fmt::format("event {} is {}; {}", events_, kind, rule));
  };
  require((kind == "begin") == (events_ == 1), "allowed: begin as the first event, and only there");
  require(!ended_, "allowed: no event after end");
  if (event.contains("elapsed_s")) elapsed_s_ = line.number("elapsed_s", kAnyNumber);
  if (kind == "begin") {
    device_ = line.text("device");
    seconds_ = line.number("seconds", kAnyNumber);
    memory_bytes_ = line.number("memory_bytes", kAnyNumber);
    slow_share_ = line.optional_number("slow_share", kAnyNumber);
    for (const JsonObject& unit : line.objects("units")) count_of(unit.text("id"));
  } else if (kind == "left_out") {
    add_left_out(line);
  } else if (kind == "mismatch") {
    add_mismatches(line, 1);
  } else if (kind == "more") {
    const std::int64_t mismatches = line.count("mismatches", kAnyCount);
    without_line_ += mismatches;
    add_mismatches(line, mismatches);
  } else if (kind == "fault") {
    add_fault(line);
  } else if (kind == "progress") {
    add_progress(line);
  } else if (kind == "end") {
    ended_ = true;
    interrupted_ = line.flag("interrupted");
  } else {
    line.reject("event", "begin, left_out, mismatch, more, fault, progress, end");
  }
}

void SoakReport::add_left_out(const JsonObject& line) {
  left_out_.push_back(fmt::format("{}: {}", line.text("id"), line.text("reason")));
  wrong_ = wrong_ || line.flag("wrong");
  std::erase_if(counts_, [id = line.text("id")](const SoakCount& count) {
    return count.id == id && count.mismatches == 0;
  });
}

void SoakReport::add_mismatches(const JsonObject& line, std::int64_t mismatches) {
  SoakCount& count = count_of(line.text("id"));
  count.mismatches += mismatches;
  if (line.holds("phase")) count.phases[line.text("phase")] += mismatches;
  count.words += line.count("words", kAnyCount);
  count.bits += line.count("bits", kAnyCount);
  for (const double unit : line.numbers("units", kAnyCount)) {
    count.units.try_emplace(static_cast<std::int64_t>(unit), 0);
  }
  if (!line.holds("unit_words")) return;
  const JsonObject words = line.object("unit_words");
  for (auto& [unit, of_unit] : count.units) {
    const std::string key = std::to_string(unit);
    if (words.holds(key.c_str())) of_unit += words.count(key.c_str(), kAnyCount);
  }
}

void SoakReport::add_fault(const JsonObject& line) {
  const Growth growth{line.text("counter"), line.number("before", kAnyNumber),
                      line.number("after", kAnyNumber)};
  wrong_ = wrong_ || !(is_corrected(growth.counter) || is_of_link(growth.counter));
  const auto same = [&](const SoakFault& one) { return one.growth.counter == growth.counter; };
  auto fault = std::ranges::find_if(faults_, same);
  if (fault == faults_.end()) {
    fault = faults_.insert(fault, SoakFault{.growth = growth, .first_s = elapsed_s_});
  }
  fault->growth.after = growth.after;
  fault->last_s = elapsed_s_;
  ++fault->readings;
}

void SoakReport::add_progress(const JsonObject& line) {
  for (const JsonObject& unit : line.objects("units")) {
    SoakCount& count = count_of(unit.text("id"));
    count.launches = unit.count("launches", kAnyCount);
    count.bytes = unit.number("bytes", kAnyNumber);
    const std::optional<double> time_s = unit.optional_number("time_s", kAnyNumber);
    if (!time_s) continue;
    if (!count.fastest_s || *time_s < *count.fastest_s) count.fastest_s = time_s;
    count.last_s = time_s;
  }
}

std::vector<std::string> SoakReport::faults() const {
  std::vector<std::string> texts;
  for (const SoakFault& fault : faults_) texts.push_back(fault.text());
  return texts;
}

std::vector<std::string> SoakReport::misplaced() const {
  std::vector<std::string> lines = misplaced_;
  if (finished() && faults_.empty() && elapsed_s_ < seconds_) {
    lines.push_back(
        fmt::format("end comes after {:.4g} s of {:.4g} planned ones, and nothing says why",
                    elapsed_s_, seconds_));
  }
  return lines;
}

std::int64_t SoakReport::mismatches() const {
  std::int64_t sum = 0;
  for (const SoakCount& count : counts_) sum += count.mismatches;
  return sum;
}

bool SoakReport::is_slow(const SoakCount& count) const {
  return slow_share_ && count.slower().value_or(0) > *slow_share_;
}

ExitCode SoakReport::exit_code() const {
  if (wrong_ || mismatches() > 0) return ExitCode::row_failed;
  if (std::ranges::any_of(counts_, [&](const SoakCount& count) { return is_slow(count); })) {
    return ExitCode::regression;
  }
  const bool launched =
      std::ranges::any_of(counts_, [](const SoakCount& count) { return count.launches > 0; });
  return finished() && launched ? ExitCode::fine : ExitCode::undecided;
}

ordered_json SoakReport::to_json() const {
  ordered_json units = ordered_json::array();
  double bytes = 0;
  for (const SoakCount& count : counts_) {
    bytes += count.bytes;
    units.push_back({{"id", count.id},
                     {"launches", count.launches},
                     {"bytes", count.bytes},
                     {"mismatches", count.mismatches},
                     {"words", count.words},
                     {"bits", count.bits},
                     {"units", numbers_of(count.units)},
                     {"unit_words", words_by_number(count.units)},
                     {"phases", count.phases},
                     {"fastest_round_s", nullable(count.fastest_s)},
                     {"last_round_s", nullable(count.last_s)},
                     {"slow", is_slow(count)}});
  }
  return {{"device", device_},
          {"planned_s", seconds_},
          {"elapsed_s", elapsed_s_},
          {"finished", finished()},
          {"exit", static_cast<int>(exit_code())},
          {"mismatches", mismatches()},
          {"mismatches_without_line", without_line_},
          {"bytes", bytes},
          {"memory_bytes", memory_bytes_},
          {"slow_share", nullable(slow_share_)},
          {"units", std::move(units)},
          {"faults", faults()},
          {"left_out", left_out_}};
}

SoakReport read_soak(const std::string& directory) {
  const std::string path = (std::filesystem::path(directory) / kSoakFile).string();
  if (!std::filesystem::exists(path)) {
    throw UsageError(
        fmt::format("{} holds no soak; allowed: a folder that `ridgebench soak` wrote", directory));
  }
  const std::string text = read_file(path);
  SoakReport report;
  int number = 0;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    const std::string origin = fmt::format("{}:{}", path, ++number);
    report.add(parse_json(std::string_view(text).substr(start, end - start), origin), origin);
    start = end + 1;
  }
  return report;
}

}  // namespace ridgebench
