#include "harness/measure/soak/soak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "harness/base/statistics.hpp"
#include "harness/device/own_work.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/soak_report.hpp"
#include "kernels/common/error.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// A soak has at least five rounds, so that a slow one shows.
constexpr double kRounds = 5;
constexpr double kLongestRound_s = 120;
// Shares of a round. The memory keeps its pattern meanwhile.
constexpr double kHotShare = 0.5;
constexpr double kMemoryShare = 0.2;
constexpr double kLinkShare = 0.05;
constexpr double kSwingShare = 0.15;
constexpr double kColdShare = 0.1;
constexpr double kRestShare = 0.8;  // of a cold start
constexpr std::array kSwings_s{1e-3, 3e-3, 10e-3, 30e-3, 100e-3};
constexpr double kSlice_s = 0.5;  // of a kernel before the next one has its turn
// Later mismatches are logged without words and readings. Those after kMostLogged are added up: a
// line comes when they are a hundredth of all, so that the lines grow as the logarithm of the
// mismatches does, and a process that is killed loses less than a hundredth of the number.
constexpr std::int64_t kMostDetailed = 1000;
constexpr std::int64_t kMostLogged = 10'000;
constexpr std::int64_t kMoreOfAll = 100;
constexpr std::size_t kMostTimes = 4096;  // of a kernel in a round
constexpr double kHealthPeriod_s = 1;

std::string word_text(std::uint64_t value) { return fmt::format("{:#018x}", value); }

ordered_json words_of(const WrongOutput& output) {
  ordered_json words = ordered_json::array();
  for (const WrongWord& word : output.wrong.first) {
    const std::uint64_t byte = word.index * kWordBytes;
    const auto address = reinterpret_cast<std::uintptr_t>(output.data) + byte;
    words.push_back({{"byte", byte},
                     {"address", word_text(address)},
                     {"expected", word_text(word.expected)},
                     {"found", word_text(word.found)},
                     {"flipped", word_text(word.expected ^ word.found)}});
  }
  return words;
}

}  // namespace

Soak::Soak(Device& device, const SoakSettings& settings, Log log, std::function<bool()> stop,
           Rest rest)
    : device_(&device),
      settings_(settings),
      log_(std::move(log)),
      stop_(std::move(stop)),
      rest_(std::move(rest)),
      check_(device, settings.fill, settings.seed) {}

bool Soak::ends() const { return stop_() || faulty_ || device_->now_s() >= end_s_; }

void Soak::rest(double seconds) {
  constexpr double kNap_s = 0.1;
  const double end_s = device_->now_s() + seconds;
  while (!ends()) {
    const double left_s = end_s - device_->now_s();
    if (left_s <= 0) return;
    rest_(std::min(left_s, kNap_s));
    OwnWork::note_return();
  }
}

void Soak::run(const std::vector<Case>& cases) {
  try {
    run_all(cases);
  } catch (...) {
    log_more();
    throw;
  }
}

void Soak::run_all(const std::vector<Case>& cases) {
  start_s_ = device_->now_s();
  begin(cases);
  verify_units();
  end_s_ = device_->now_s() + settings_.seconds;
  const double round_s = std::min(settings_.seconds / kRounds, kLongestRound_s);
  while (!ends()) run_round(round_s);
  if (memory_->pattern()) compare_memory();
  log_progress();
  read_health();
  log_({{"event", "end"},
        {"time", timestamp()},
        {"elapsed_s", elapsed_s()},
        {"interrupted", !faulty_ && stop_()},
        {"stopped_by_fault", faulty_ && settings_.stop_on_fault}});
}

void Soak::begin(const std::vector<Case>& cases) {
  std::vector<LeftOut> left_out;
  units_ = bind_units(cases, settings_.fill, settings_.seed, check_,
                      [&](LeftOut what) { left_out.push_back(std::move(what)); });
  memory_ = std::make_unique<MemoryTest>(*device_, settings_.memory_share, settings_.seed);
  ordered_json units = ordered_json::array();
  for (const auto& unit : units_) {
    units.push_back({{"id", unit->id()}, {"choice", nullable(unit->choice())}});
  }
  log_({{"event", "begin"},
        {"time", timestamp()},
        {"device", device_->name()},
        {"seconds", settings_.seconds},
        {"slow_share", nullable(settings_.slow_share)},
        {"fill", name(settings_.fill)},
        {"seed", settings_.seed},
        {"memory_bytes", memory_->bytes()},
        {"units", std::move(units)}});
  for (const LeftOut& what : left_out) log_left_out(what);
  health_ = fault_counters(device_->state());
  health_s_ = device_->now_s();
}

std::optional<LeftOut> Soak::verify(SoakUnit& unit) {
  LeftOut failure{.id = unit.id(), .reason = "", .wrong = false};
  try {
    std::vector<WrongOutput> outvoted;
    const std::optional<std::string> wrong = unit.keep_verified(outvoted);
    if (!outvoted.empty()) report(unit.id(), SoakPhase::verify, outvoted);
    check_.forget_references();
    check_.input_copies().clear();
    if (!wrong) {
      static_cast<void>(step(unit, SoakPhase::verify));
      return std::nullopt;
    }
    failure.reason = *wrong;
    failure.wrong = true;
  } catch (const OutOfMemory& error) {
    failure.reason = error.what();
  } catch (const std::bad_alloc&) {
    failure.reason = "the host has too little memory for its reference";
  }
  return failure;
}

void Soak::verify_units() {
  std::erase_if(units_, [&](const std::unique_ptr<SoakUnit>& unit) {
    const std::optional<LeftOut> failure = stop_() ? std::nullopt : verify(*unit);
    if (failure) log_left_out(*failure);
    if (!failure && !stop_()) log_progress();  // others see that the process goes on
    return failure.has_value();
  });
  for (const auto& unit : units_) {
    const Case& c = unit->row();
    const bool link = c.is_ceiling() && c.operation->ceiling->resource == Resource::link;
    (link ? links_ : compute_).push_back(unit.get());
  }
}

void Soak::log_left_out(const LeftOut& what) {
  log_({{"event", "left_out"}, {"id", what.id}, {"reason", what.reason}, {"wrong", what.wrong}});
}

void Soak::run_round(double seconds) {
  ++round_;
  const double start_s = device_->now_s();
  if (memory_->bytes() > 0 && !memory_->pattern()) memory_->write_next();
  hot(kHotShare * seconds);
  test_memory(kMemoryShare * seconds);
  copy(kLinkShare * seconds);
  swing(kSwingShare * seconds);
  cold_start(kColdShare * seconds);
  // Phases that have nothing to do leave their time.
  hot(seconds - (device_->now_s() - start_s));
  log_progress();
  read_health();
}

double Soak::step(SoakUnit& unit, SoakPhase phase) {
  const double seconds = unit.launch();
  OwnWork::note_return();
  const std::vector<WrongOutput> found = unit.compare();
  Counts& counts = counts_[unit.id()];
  ++counts.launches;
  counts.bytes += unit.compared_bytes();
  if (phase == SoakPhase::hot && counts.round_s.size() < kMostTimes) {
    counts.round_s.push_back(seconds);
  }
  if (!found.empty()) report(unit.id(), phase, found);
  if (device_->now_s() - health_s_ >= kHealthPeriod_s) read_health();
  return seconds;
}

void Soak::launch_all(std::vector<SoakUnit*>& units, SoakPhase phase, double until_s) {
  if (units.empty()) return;
  const double slice_s =
      std::min(kSlice_s, (until_s - device_->now_s()) / static_cast<double>(units.size()));
  while (!ends() && device_->now_s() < until_s) {
    SoakUnit& unit = *units[next_++ % units.size()];
    const double end_s = std::min(until_s, device_->now_s() + slice_s);
    device_->begin_case(unit.id());
    do {
      step(unit, phase);
    } while (!ends() && device_->now_s() < end_s);
    static_cast<void>(device_->end_case());
  }
}

void Soak::hot(double seconds) {
  if (seconds > 0) launch_all(compute_, SoakPhase::hot, device_->now_s() + seconds);
}

void Soak::test_memory(double seconds) {
  if (memory_->bytes() == 0) return;
  const double end_s = device_->now_s() + seconds;
  do {
    compare_memory();
    memory_->write_next();
  } while (!ends() && device_->now_s() < end_s);
}

void Soak::copy(double seconds) { launch_all(links_, SoakPhase::link, device_->now_s() + seconds); }

void Soak::swing(double seconds) {
  if (compute_.empty()) return;
  const double each_s = seconds / static_cast<double>(kSwings_s.size());
  for (const double period_s : kSwings_s) {
    const double end_s = device_->now_s() + each_s;
    do {
      const double load_end_s = device_->now_s() + period_s;
      SoakUnit& unit = *compute_[next_++ % compute_.size()];
      do {
        step(unit, SoakPhase::swing);
      } while (!ends() && device_->now_s() < load_end_s);
      rest(period_s);
    } while (!ends() && device_->now_s() < end_s);
  }
}

void Soak::cold_start(double seconds) {
  const double end_s = device_->now_s() + seconds;
  rest(kRestShare * seconds);
  launch_all(compute_, SoakPhase::cold_start, end_s);
}

void Soak::compare_memory() {
  WrongBits wrong = memory_->compare();
  const std::string id = fmt::format("memory/{}", name(memory_->pattern()->kind));
  Counts& counts = counts_[id];
  ++counts.launches;
  counts.bytes += memory_->bytes();
  if (wrong.words == 0) return;
  report(id, SoakPhase::memory,
         {{.operand = "memory", .data = memory_->data(), .wrong = std::move(wrong), .units = {}}});
}

void Soak::report(const std::string& id, SoakPhase phase, const std::vector<WrongOutput>& found) {
  if (++mismatches_ > kMostLogged) {
    more_[{id, phase}].add(found);
    if (++more_launches_ * kMoreOfAll >= mismatches_) log_more();
    return;
  }
  Mismatches sum;
  sum.add(found);
  ordered_json line{{"event", "mismatch"}, {"id", id}, {"phase", name(phase)}};
  line["elapsed_s"] = elapsed_s();
  line["words"] = sum.words;
  line["bits"] = sum.bits;
  line["units"] = numbers_of(sum.units);
  line["unit_words"] = words_by_number(sum.units);
  if (mismatches_ <= kMostDetailed) {
    ordered_json outputs = ordered_json::array();
    for (const WrongOutput& output : found) {
      outputs.push_back({{"operand", output.operand}, {"first", words_of(output)}});
    }
    line["outputs"] = std::move(outputs);
    const ordered_json state = device_->state();
    for (const char* key : {"sm_clock_hz", "temperature_c", "power_w"}) {
      line[key] = state.contains(key) ? state.at(key) : ordered_json(nullptr);
    }
  }
  log_(line);
}

void Soak::Mismatches::add(const std::vector<WrongOutput>& found) {
  ++launches;
  for (const WrongOutput& output : found) {
    words += output.wrong.words;
    bits += output.wrong.bits;
    for (const auto& [unit, wrong] : output.units) units[unit] += wrong;
  }
}

void Soak::log_more() {
  for (const auto& [of, sum] : std::exchange(more_, {})) {
    log_({{"event", "more"},
          {"id", of.first},
          {"phase", name(of.second)},
          {"elapsed_s", elapsed_s()},
          {"mismatches", sum.launches},
          {"words", sum.words},
          {"bits", sum.bits},
          {"units", numbers_of(sum.units)},
          {"unit_words", words_by_number(sum.units)}});
  }
  more_launches_ = 0;
}

void Soak::log_progress() {
  log_more();
  ordered_json units = ordered_json::array();
  for (auto& [id, counts] : counts_) {
    ordered_json unit{{"id", id}, {"launches", counts.launches}, {"bytes", counts.bytes}};
    unit["time_s"] = nullptr;
    if (!counts.round_s.empty()) unit["time_s"] = middle(counts.round_s);
    units.push_back(std::move(unit));
    counts.round_s.clear();
  }
  log_({{"event", "progress"},
        {"elapsed_s", elapsed_s()},
        {"round", round_},
        {"units", std::move(units)}});
}

void Soak::read_health() {
  health_s_ = device_->now_s();
  const FaultCounters now = fault_counters(device_->state());
  for (const Growth& one : growth_of(health_, now)) {
    log_({{"event", "fault"},
          {"elapsed_s", elapsed_s()},
          {"counter", one.counter},
          {"before", one.before},
          {"after", one.after}});
    if (settings_.stop_on_fault) faulty_ = true;
  }
  for (const auto& [key, value] : now) health_[key] = value;
}

}  // namespace ridgebench
