#include "harness/results/verify/verify_results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "harness/results/doubts.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/files/resume.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/results/outcome.hpp"
#include "harness/results/record.hpp"
#include "harness/results/suspect.hpp"
#include "harness/results/verify/checks.hpp"
#include "harness/results/verify/checksums.hpp"
#include "harness/results/verify/row_keys.hpp"
#include "harness/results/worn.hpp"
#include "kernels/common/error.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/json_object.hpp"
#include "roofline/utilisation.hpp"

namespace ridgebench {
namespace {

// Since this method a row above its measured roof is flagged.
constexpr int kFlagsAboveRoof = 4;
// Since this method a row more than 10 % above its roof is suspect.
constexpr int kSuspects = 6;
// Since this method a run that ended records which controls moved.
constexpr int kRecordsDoubts = 7;
// Keys of environment.json and of records that only this method and newer ones write.
constexpr std::array kKeysOfDoubts{"controls", "doubted", "fingerprint", "seen_s"};

// Other versions have other ceilings, and a file that was loaded or a program that used the C
// interface had operations of its own. This one cannot compute the work of what it lacks.
void check_work_of(const Record& record, const std::set<std::string>& own, Checker& check) {
  const bool may_lack =
      record.role != Role::kernel || record.loaded_from || own.contains(record.op);
  check_work({record.op, record.shape, record.format, record.flops, record.bytes}, may_lack, check);
}

void check_times(const Record& record, const StatedDevice& device, Checker& check) {
  const auto launches = static_cast<double>(record.launches_per_sample);
  check.require(launches >= 1 && !record.samples_s.empty(), "an ok row needs samples");
  if (record.samples_s.empty() || launches < 1) return;
  check.require(std::ssize(record.samples_s) % record.samples_per_batch == 0,
                "samples_s does not hold whole batches");
  // Older records have no tick of their own.
  const double tick_s = record.tick_s.value_or(device.tick_s);
  const Summary s = summarize(record.samples_s, tick_s / launches);
  for_each_key<Record>([&](const auto& key) {
    if constexpr (std::is_same_v<decltype(key), const TimeKey&>) {
      check.equal(key.name, (*record.time).*key.member, s.*key.member);
    }
  });
}

// Checks the cycles per launch, which older records lack.
void check_cycles(const Record& record, Checker& check) {
  check.require(record.clocks_hz.empty() || record.clocks_hz.size() == record.samples_s.size(),
                "clocks_hz needs a clock for each sample");
  const std::optional<Summary> cycles = record.cycles();
  if (!cycles) return;
  check.equal("cycles_median", record.cycles_median.value_or(0), cycles->median);
  check.equal("cycles_ci_low", record.cycles_ci_low.value_or(0), cycles->ci_low);
  check.equal("cycles_ci_high", record.cycles_ci_high.value_or(0), cycles->ci_high);
}

// Keys that follow from others, which parse_record does not read.
template <class Member>
void check_derived(const Record& record, const Key<Record, Member>& key, const JsonObject& raw,
                   Checker& check) {
  if constexpr (std::is_function_v<Member>) {
    if (key.absence == Absence::not_in_oldest && !raw.holds(key.name)) return;
    const std::optional<double> computed = (record.*key.member)();
    const auto stored = raw.optional_number(key.name, {-1e300, 1e300});
    check.require(stored.has_value() == computed.has_value(),
                  fmt::format("{} is {}", key.name, stored ? "set without a cause" : "missing"));
    if (stored && computed) check.equal(key.name, *stored, *computed);
  }
}
void check_derived(const Record& /*record*/, const TimeKey& /*key*/, const JsonObject& /*raw*/,
                   Checker& /*check*/) {}

// A share of what a data sheet promises; empty without one.
void check_share(const char* key, std::optional<double> stored, std::optional<double> follows,
                 Checker& check) {
  check.require(stored.has_value() == follows.has_value(),
                fmt::format("{} is {}", key, stored ? "set without a data sheet" : "missing"));
  if (stored && follows) check.equal(key, *stored, *follows);
}

void check_fraction_of_roof(const Record& record, const Timed& timed, Checker& check) {
  check.equal("fraction_of_measured_roof", record.fraction_of_measured_roof.value_or(0),
              fraction_of_measured_roof(timed, record.limits()).value_or(0));
}

void check_physics(const Record& record, const StatedDevice& device, Checker& check) {
  const Timed timed{{record.flops, record.bytes}, record.time->median};
  const Format format = record.format.a;
  Physics physics;
  physics.issue_flops_per_s = peak_at_clock_flops_per_s(device.sheet, format, record.clock_hz);
  const bool memory = record.saturates == Resource::memory || record.role == Role::kernel;
  if (device.sheet != nullptr && device.sheet->memory.pins && memory &&
      record.regime != Regime::warm && !record.flagged(kServedByCache)) {
    physics.bandwidth_bytes_per_s = device.sheet->memory.pins->bandwidth_bytes_per_s();
  }
  if (const auto impossible = miscounted(timed, physics)) check.require(false, *impossible);
  if (!device.sheet_is_known) return check_fraction_of_roof(record, timed, check);
  check_share("mfu", record.mfu, mfu(timed, device.sheet, format), check);
  if (record.role == Role::kernel) {  // a ceiling may declare a rate of its own
    check_share("fraction_of_roof_at_clock", record.fraction_of_roof_at_clock,
                fraction_of_roof_at_clock(timed, physics.issue_flops_per_s), check);
  }
  check_fraction_of_roof(record, timed, check);
}

void check_record(const Record& record, const JsonObject& raw, const StatedRun& run,
                  std::vector<std::string>& problems) {
  const std::map<std::string, StatedDevice>& devices = run.devices;
  Checker check(record.id, problems);
  check.require((record.status == Status::ok) != record.reason.has_value(),
                "every status but ok needs a reason");
  check_identity(record, run, check);
  const auto device = devices.find(record.device);
  // Other tools count as they like.
  if (record.origin != Origin::external) check_work_of(record, run.own_operations, check);
  for_each_key<Record>([&](const auto& key) { check_derived(record, key, raw, check); });
  if (record.status != Status::ok || device == devices.end()) return;
  check.require(record.verify && record.verify->passed() && record.verify->elements > 0,
                "an ok row must have passed verification");
  check_times(record, device->second, check);
  if (!record.samples_s.empty()) check_samples(record, check);
  check_cycles(record, check);
  check_physics(record, device->second, check);
}

void check_roof_flag(const Record& record, std::vector<std::string>& problems) {
  const bool flagged = record.flagged(kAboveRoof);
  if (flagged == above_roof(record)) return;
  problems.push_back(fmt::format("{}: {}", record.id,
                                 flagged ? "flagged above_roof, but below its measured roof"
                                         : "above its measured roof, but not flagged above_roof"));
}

// True if a row is suspect if, and only if, its samples are too fast for the best of its ceilings,
// or its process claimed less time than the measuring process saw.
void check_suspicion(const Record& record, std::vector<std::string>& problems) {
  Checker check(record.id, problems);
  const bool suspect = record.status == Status::suspect;
  if (!suspect && record.status != Status::ok) return;
  check.require(record.flagged(kUnbounded) ==
                    (!suspect && record.role == Role::kernel && !record.fraction_of_measured_roof),
                "unbounded is the flag of a kernel whose roof is not known");
  if (record.samples_s.empty()) return check.require(!suspect, "a suspect row needs samples");
  std::vector<double> samples_s = record.samples_s;
  const double median_s = middle(samples_s);
  if (doubted_claim(median_s, record.seen_s)) {
    return check.require(suspect, "its process claims too little time, but it is not suspect");
  }
  check.require(
      suspect || !record.flagged(kClaimUnchecked) || claim_is_unchecked(median_s, record.seen_s),
      "claim_unchecked is the flag of a claim above twice what was seen");
  const bool probed = record.verify && record.verify->probes;
  const double factor = slower_factor(record.bytes, record.sets);
  if (probed && slower_on_new_inputs(*record.verify->probes, median_s, factor)) {
    return check.require(suspect, "slower on new inputs, but not suspect");
  }
  check.require(suspect == impossible(record, median_s),
                suspect ? "suspect, but possible by its ceilings and its probes"
                        : fmt::format("more than {:.0f} % above its roof, but not suspect",
                                      100 * suspect_margin(record)));
}

}  // namespace

std::vector<std::string> verify_results(const std::filesystem::path& directory, Ending ending) {
  const std::string facts = (directory / "environment.json").string();
  const nlohmann::json environment = parse_json(read_file(facts), facts);
  if (!environment.contains("imported")) static_cast<void>(read_request(directory.string()));
  const JsonObject facts_json(environment, facts);
  const StatedRun run = stated_run(facts_json);
  std::vector<std::string> problems;
  check_provenance(environment, problems);
  std::vector<Record> records;
  const nlohmann::json method = environment.value("method_version", nlohmann::json());
  // check_provenance() names one that is not a number. Imported results have none, and no rules.
  const double rules = method.is_number() ? method.get<double>() : 0;
  std::set<std::string> newer;  // keys that contradict the stated method
  const auto note_newer = [&](const nlohmann::json& found) {
    if (!method.is_number() || rules >= kRecordsDoubts) return;
    std::ranges::copy_if(kKeysOfDoubts, std::inserter(newer, newer.end()),
                         [&](const char* key) { return found.contains(key); });
  };
  note_newer(environment);
  std::set<std::string> ids;
  const std::string path = (directory / "records.jsonl").string();
  std::istringstream lines(read_file(path));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (lines.eof() && ending == Ending::open) break;  // the line was cut
    const std::string origin = fmt::format("{}:{}", path, ++number);
    const Record& record = records.emplace_back(parse_record(line, origin));
    const nlohmann::json raw = parse_json(line, origin);
    note_newer(raw);
    if (!ids.insert(record.id).second) problems.push_back(record.id + ": comes twice");
    check_record(record, JsonObject(raw, origin), run, problems);
    if (rules >= kFlagsAboveRoof) check_roof_flag(record, problems);
    if (rules >= kSuspects) check_suspicion(record, problems);
  }
  if (!newer.empty()) {
    problems.push_back(
        fmt::format("environment.json: method_version is {}, but the keys {} are of "
                    "version {} and newer",
                    rules, fmt::join(newer, ", "), kRecordsDoubts));
  }
  if (ids.empty() && ending == Ending::whole) problems.emplace_back("records.jsonl holds no row");
  if (ending == Ending::whole) {
    check_end(directory, environment, kRecordsFile, problems);
    const bool ended = !why_unfinished(facts_json);
    const bool doubts = facts_json.holds("controls") && facts_json.holds("doubted");
    if (rules >= kRecordsDoubts && ended && !doubts) {
      problems.emplace_back("environment.json: a run that ended has controls and doubted");
    }
  }
  check_roofs(records, run.has_other_ceilings, problems);
  std::ranges::move(unmeasured(records), std::back_inserter(problems));
  std::ranges::move(doubt_problems(environment, records), std::back_inserter(problems));
  std::ranges::move(worn_problems(nlohmann::ordered_json(environment)),
                    std::back_inserter(problems));
  std::ranges::move(checksum_problems(directory, ending), std::back_inserter(problems));
  return problems;
}

}  // namespace ridgebench
