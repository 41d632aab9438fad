#include "harness/measure/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <tuple>
#include <utility>

#include "harness/base/filter.hpp"
#include "harness/base/process.hpp"
#include "harness/device/isolated/kernel_process.hpp"
#include "harness/measure/crash.hpp"
#include "harness/measure/fingerprint.hpp"
#include "harness/measure/kept_state.hpp"
#include "harness/measure/preparation.hpp"
#include "harness/measure/sampling/sustained.hpp"
#include "harness/results/outcome.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Seconds per case without a budget: quick, standard, full, lecture.
constexpr std::array kSecondsPerCase{0.3, 2.0, 4.0, 0.4};
// A case hangs if it takes kHangFactor times its share and more than kShortestHang seconds.
constexpr double kHangFactor = 50;
constexpr double kShortestHang = 60;

// The run measures the ceilings of arithmetic and of a copy again at the end. The two times show
// whether the machine changed.
bool is_control(const Case& c) {
  const std::optional<Ceiling>& ceiling = c.operation->ceiling;
  if (!ceiling || ceiling->sweep || c.implementation == nullptr) return false;
  switch (ceiling->resource) {
    case Resource::fma:
    case Resource::tensor:
      return c.technique.accumulator == Format::fp32;
    case Resource::memory:
      return c.written_share() == 0.5 && !c.technique.burst;
    default:
      return false;
  }
}

Budget budget_of(const std::vector<Case>& cases, const RunRequest& request) {
  const double share_s = kSecondsPerCase.at(static_cast<std::size_t>(request.profile));
  return {preparation_of(cases, share_s), request.budget_s, share_s};
}

// Chooses the cases of a device.
class Choice {
 public:
  Choice(const RunRequest& request, const Filter& filter, Device& device, RunPlan::Chosen& chosen)
      : filter_(&filter),
        chosen_(&chosen),
        selection_(request.names, Registry::instance()),
        all_(enumerate_cases(Registry::instance(), device, request.profile, request.regimes,
                             selection_)),
        ceilings_(all_.begin(), std::ranges::partition_point(all_, &Case::is_ceiling)),
        named_(!request.names.empty()),
        lectures_(request.profile == Profile::lecture && request.filter.empty()),
        brief_(!at_least_standard(request.profile) && request.filter.empty() && !named_),
        fingerprint_(request.fingerprint) {
    if (fingerprint_) take_units(device);
    std::copy_if(all_.begin() + std::ssize(ceilings_), all_.end(), std::back_inserter(kernels_),
                 [this](const Case& c) { return chooses(c); });
  }

  // In the order of measurement.
  void add(std::uint64_t seed, const std::function<bool(const Case&)>& have_ceiling) {
    std::vector<Case> controls;
    chosen_->cases.insert(chosen_->cases.end(), units_.begin(), units_.end());
    for (const Case& ceiling : ceilings_) {
      if (fingerprint_ && has_a_row_per_unit(ceiling.shape)) continue;
      const bool asked = !named_ && !lectures_ && filter_->matches(ceiling.id());
      if (!asked && (!needed(ceiling) || have_ceiling(ceiling))) continue;
      if (asked && !chooses(ceiling)) continue;
      chosen_->cases.push_back(ceiling);
      if (!controls_run(ceiling)) continue;
      controls.push_back(ceiling);
      controls.back().control = true;
    }
    std::mt19937_64 random(seed);
    std::shuffle(kernels_.begin(), kernels_.end(), random);
    chosen_->cases.insert(chosen_->cases.end(), kernels_.begin(), kernels_.end());
    if (kernels_.empty()) return;
    chosen_->cases.insert(chosen_->cases.end(), controls.begin(), controls.end());
  }

 private:
  // The product of each multiprocessor, which the profiles up to standard leave out.
  void take_units(Device& device) {
    units_ = enumerate_cases(Registry::instance(), device, Profile::standard, {});
    std::erase_if(units_, [](const Case& c) { return !has_a_row_per_unit(c.shape); });
  }
  bool chooses(const Case& c) {
    if (fingerprint_ && c.technique.order_dependent) return false;
    if (!filter_->matches(c.id()) || left_out_unless_named(c, selection_, *filter_)) return false;
    if (!brief_ || !left_out_of_quick(c, all_)) return true;
    ++chosen_->left_out;
    return false;
  }
  [[nodiscard]] bool needed(const Case& ceiling) const {
    return std::ranges::any_of(kernels_,
                               [&](const Case& c) { return needs_ceiling(c, ceiling, ceilings_); });
  }
  // In a brief run, one format shows if the power of a tensor engine changed.
  [[nodiscard]] bool controls_run(const Case& ceiling) const {
    if (!is_control(ceiling)) return false;
    if (!brief_ || beyond_share_s(ceiling, 0) == 0) return true;
    const bool memory = ceiling.operation->ceiling->resource == Resource::memory;
    return memory || (!ceiling.technique.burst && ceiling.format == kLadderFormat);
  }

  const Filter* filter_;
  RunPlan::Chosen* chosen_;
  Selection selection_;
  std::vector<Case> all_;
  std::span<const Case> ceilings_;
  std::vector<Case> kernels_;
  std::vector<Case> units_;  // the products of each multiprocessor, for fingerprints
  bool named_;               // the user named kernels, which leaves the ceilings that they need
  bool lectures_;            // the profile leaves them too
  bool brief_;
  bool fingerprint_;
};

// Throws UsageError.
RunPlan::Chosen choose_cases(const RunRequest& request,
                             const std::vector<std::unique_ptr<Device>>& devices,
                             const std::function<bool(const Case&)>& have_ceiling) {
  RunPlan::Chosen chosen;
  const Filter filter(request.filter);
  for (const auto& device : devices) {
    Choice(request, filter, *device, chosen).add(request.seed, have_ceiling);
  }
  // The others are what these need, or the products of a fingerprint, which every run of it has.
  const bool asked = std::ranges::any_of(chosen.cases, [&](const Case& c) {
    return filter.matches(c.id()) && (request.names.empty() || !c.is_ceiling());
  });
  if (!asked) throw UsageError(no_case(filter, request.names));
  return chosen;
}

}  // namespace

RunPlan::RunPlan(const RunRequest& request, const std::vector<std::unique_ptr<Device>>& devices,
                 const std::function<bool(const Case&)>& have_ceiling)
    : chosen_(choose_cases(request, devices, have_ceiling)),
      budget_(budget_of(chosen_.cases, request)) {}

Campaign::Campaign(RunPlan plan, Fill fill, std::uint64_t seed, ResultsDirectory& directory,
                   std::vector<Record> finished, const std::vector<Record>& ceilings)
    : plan_(std::move(plan)),
      directory_(&directory),
      earlier_controls_(controls_of(ceilings)),
      watchdog_([this] { give_up_on_hung_case(); }) {
  for (const Case& c : plan_.cases()) {
    measurers_.try_emplace(c.device, *c.device, fill, seed);
  }
  for (const std::vector<Record>& earlier : {std::cref(ceilings), std::cref(finished)}) {
    for (const Record& record : earlier) {
      looks_.add(record);
      for (auto& [device, measurer] : measurers_) {
        if (record.device == device->name()) measurer.add_ceiling(record);
      }
    }
  }
  for (Record& record : finished) finished_.emplace(record.id, std::move(record));
  for (std::size_t i = 0; i < plan_.cases().size(); ++i) {
    if (finished_.contains(plan_.cases()[i].id())) plan_.budget().leave_out(i);
  }
  records_.reserve(plan_.cases().size());
}

void Campaign::take_turns() {
  die_with_parent(process_start().parent);
  for (auto& [device, measurer] : measurers_) measurer.take_turns(*this);
}

void Campaign::end_turn() {
  watchdog_.stop();
  others_s_ += stop_until_continued();
  watchdog_.start(hang_limit_);
}

const Record& Campaign::measure(std::size_t index) {
  const Case& c = plan_.cases().at(index);
  if (const auto done = finished_.find(c.id()); done != finished_.end()) {
    return records_.emplace_back(done->second);
  }
  const double spent_s = clock_.seconds() - others_s_;
  const double share = plan_.budget().share(index, spent_s);
  current_ = &c;
  hang_limit_ = std::chrono::duration<double>(std::max(kHangFactor * share, kShortestHang));
  watchdog_.start(hang_limit_);
  const auto disarm = [this](void*) { watchdog_.stop(); };
  const std::unique_ptr<void, decltype(disarm)> guard(this, disarm);
  const KeptState state;
  Record record;
  double preparation_s = 0;
  try {
    const CrashScope crash(c.describe(), directory_->records_file(), spent_s);
    std::tie(record, preparation_s) = measure_case(c, share);
  } catch (const DeviceError& error) {
    record = c.describe();
    record.status = Status::failed;
    record.reason = error.what();
    directory_->append(record);
    records_.push_back(std::move(record));
    throw;
  }
  const bool judged = record.role != Role::kernel || record.fraction_of_measured_roof;
  if (!roofs_unknown_.empty() && record.status == Status::ok && !judged) {
    record.roof_unknown = roofs_unknown_;
  }
  if (record.status == Status::ok) plan_.budget().learn(index, preparation_s);
  directory_->append(record);
  return records_.emplace_back(std::move(record));
}

std::pair<Record, double> Campaign::measure_case(const Case& c, double share_s) {
  Measurer& measurer = measurers_.at(c.device);
  const Stopwatch clock;
  Record record = measurer.measure(c, share_s, signalled);
  const double preparation_s = clock.seconds() - measurer.sampling_s();
  const auto again = [&](const Case& one, double seconds) {
    watchdog_.start(hang_limit_);
    return measurer.measure(one, seconds, signalled);
  };
  record = looks_.confirm(std::move(record), c, share_s, again);
  if (c.is_ceiling() && !c.control) looks_.add(c);
  looks_.add(record);
  return {std::move(record), preparation_s};
}

void Campaign::give_up_on_hung_case() {
  if (end_busy_kernel_process(kHungReason)) return;
  Record record = current_->describe();
  record.status = Status::failed;
  record.reason = kHungReason;
  end_hung(*directory_, to_json(record), "results");
}

}  // namespace ridgebench
