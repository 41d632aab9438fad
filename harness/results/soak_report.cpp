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
    left_out_.push_back(fmt::format("{}: {}", line.text("id"), line.text("reason")));
    wrong_ = wrong_ || line.flag("wrong");
    std::erase_if(counts_, [id = line.text("id")](const SoakCount& count) {
      return count.id == id && count.mismatches == 0;
    });
  } else if (kind == "mismatch") {
    SoakCount& count = count_of(line.text("id"));
    ++count.mismatches;
    if (event.contains("phase")) ++count.phases[line.text("phase")];
    count.words += line.count("words", kAnyCount);
    count.bits += line.count("bits", kAnyCount);
    for (const double unit : line.numbers("units", kAnyCount)) {
      count.units.insert(static_cast<std::int64_t>(unit));
    }
  } else if (kind == "fault") {
    const Growth growth{line.text("counter"), line.number("before", kAnyNumber),
                        line.number("after", kAnyNumber)};
    wrong_ = wrong_ || !(is_corrected(growth.counter) || is_of_link(growth.counter));
    faults_.push_back(growth.text());
  } else if (kind == "progress") {
    for (const JsonObject& unit : line.objects("units")) {
      SoakCount& count = count_of(unit.text("id"));
      count.launches = unit.count("launches", kAnyCount);
      count.bytes = unit.number("bytes", kAnyNumber);
      const std::optional<double> time_s = unit.optional_number("time_s", kAnyNumber);
      if (!time_s) continue;
      if (!count.fastest_s || *time_s < *count.fastest_s) count.fastest_s = time_s;
      count.last_s = time_s;
    }
  } else if (kind == "end") {
    ended_ = true;
    interrupted_ = line.flag("interrupted");
  } else {
    line.reject("event", "begin, left_out, mismatch, fault, progress, end");
  }
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
                     {"units", count.units},
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
          {"bytes", bytes},
          {"memory_bytes", memory_bytes_},
          {"slow_share", nullable(slow_share_)},
          {"units", std::move(units)},
          {"faults", faults_},
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
