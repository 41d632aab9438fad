#include "harness/measure/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <random>
#include <utility>

#include "harness/base/filter.hpp"
#include "harness/measure/crash.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Seconds per case without a budget: quick, standard, full.
constexpr std::array kSecondsPerCase{0.3, 2.0, 4.0};
// A case hangs if it takes kHangFactor times its share and more than kShortestHang seconds.
constexpr double kHangFactor = 50;
constexpr double kShortestHang = 60;

volatile std::sig_atomic_t g_signalled = 0;

// The run measures the ceilings of arithmetic and of a copy again at the end. The two times show
// whether the machine changed.
bool is_control(const Case& c) {
  const std::optional<Ceiling>& ceiling = c.operation->ceiling;
  if (!ceiling || c.implementation == nullptr) return false;
  switch (ceiling->resource) {
    case Resource::fma:
    case Resource::tensor:
      return c.technique.accumulator == Format::fp32;
    case Resource::memory:
      return c.written_share() == 0.5;
    default:
      return false;
  }
}

// Estimates the seconds of a case beside its share; empty if the case will be skipped. A host
// without a GPU took them, with two threads, for inputs, poison and comparisons. The budget learns
// by how much another machine differs.
std::optional<double> preparation_s(const Case& c) {
  constexpr double kFixed_s = 0.02;
  constexpr double kBytesPerSecond = 8e8;
  if (unsupported_reason(c)) return std::nullopt;
  const double set = Buffers::footprint(c.operands(), 1);
  const auto rotation = static_cast<double>(c.device->rotation_bytes());
  const double bytes = c.regime == Regime::steady
                           ? std::clamp(rotation, set, set * static_cast<double>(kMaxSets))
                           : set;
  return kFixed_s + bytes / kBytesPerSecond;
}

Budget budget_of(const std::vector<Case>& cases, const RunRequest& request) {
  std::vector<std::optional<double>> preparation;
  preparation.reserve(cases.size());
  for (const Case& c : cases) preparation.push_back(preparation_s(c));
  return {std::move(preparation), request.budget_s,
          kSecondsPerCase.at(static_cast<std::size_t>(request.profile))};
}

// Chooses the cases in the order of measurement. Throws UsageError.
std::vector<Case> choose_cases(const RunRequest& request,
                               const std::vector<std::unique_ptr<Device>>& devices,
                               const std::function<bool(const Case&)>& have_ceiling) {
  std::vector<Case> chosen;
  const Filter filter(request.filter);
  for (const auto& device : devices) {
    const std::vector<Case> all =
        enumerate_cases(Registry::instance(), *device, request.profile, request.regimes);
    const auto first_kernel = std::ranges::partition_point(all, &Case::is_ceiling);
    const std::span<const Case> ceilings(all.begin(), first_kernel);
    std::vector<Case> kernels;
    std::copy_if(first_kernel, all.end(), std::back_inserter(kernels),
                 [&](const Case& c) { return filter.matches(c.id()); });
    std::vector<Case> controls;
    for (const Case& ceiling : ceilings) {
      const bool needed = std::ranges::any_of(
          kernels, [&](const Case& c) { return needs_ceiling(c, ceiling, ceilings); });
      const bool asked = filter.matches(ceiling.id());
      if (!asked && (!needed || have_ceiling(ceiling))) continue;
      chosen.push_back(ceiling);
      if (is_control(ceiling)) {
        controls.push_back(ceiling);
        controls.back().control = true;
      }
    }
    std::mt19937_64 random(request.seed);
    std::shuffle(kernels.begin(), kernels.end(), random);
    chosen.insert(chosen.end(), kernels.begin(), kernels.end());
    if (!kernels.empty()) chosen.insert(chosen.end(), controls.begin(), controls.end());
  }
  if (chosen.empty()) {
    throw UsageError(fmt::format("no case matches filter '{}'; `ridgebench list` shows all cases",
                                 filter.shown()));
  }
  return chosen;
}

}  // namespace

RunPlan::RunPlan(const RunRequest& request, const std::vector<std::unique_ptr<Device>>& devices,
                 const std::function<bool(const Case&)>& have_ceiling)
    : cases_(choose_cases(request, devices, have_ceiling)), budget_(budget_of(cases_, request)) {}

double RunPlan::largest_footprint() const {
  double largest = 0;
  for (const Case& c : cases_) {
    largest = std::max(largest, Buffers::footprint(c.operands(), 1));
  }
  return largest;
}

Campaign::Campaign(RunPlan plan, Fill fill, std::uint64_t seed, ResultsDirectory& directory,
                   std::vector<Record> finished, const std::vector<Record>& ceilings)
    : plan_(std::move(plan)),
      directory_(&directory),
      watchdog_([this] { give_up_on_hung_case(); }) {
  for (const Case& c : plan_.cases()) {
    measurers_.try_emplace(c.device, *c.device, fill, seed);
  }
  for (auto& [device, measurer] : measurers_) {
    for (const Record& record : ceilings) {
      if (record.device == device->name()) measurer.add_ceiling(record);
    }
    for (const Record& record : finished) {
      if (record.device == device->name()) measurer.add_ceiling(record);
    }
  }
  for (Record& record : finished) finished_.emplace(record.id, std::move(record));
  for (std::size_t i = 0; i < plan_.cases().size(); ++i) {
    if (finished_.contains(plan_.cases()[i].id())) plan_.budget().leave_out(i);
  }
  records_.reserve(plan_.cases().size());
}

void Campaign::take_turns() {
  die_with_parent();
  for (auto& [device, measurer] : measurers_) measurer.take_turns(*this);
}

double Campaign::end_turn() {
  watchdog_.stop();
  const double seconds = stop_until_continued();
  others_s_ += seconds;
  watchdog_.start(hang_limit_);
  return seconds;
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
  Record record;
  Measurer& measurer = measurers_.at(c.device);
  const Stopwatch clock;
  try {
    const CrashScope crash(c.describe(), directory_->records_file(), spent_s);
    record = measurer.measure(c, share, signalled);
  } catch (const DeviceError& error) {
    record = c.describe();
    record.status = Status::failed;
    record.reason = error.what();
    directory_->append(record);
    throw;
  }
  if (record.status == Status::ok) {
    plan_.budget().learn(index, clock.seconds() - measurer.sampling_s());
  }
  directory_->append(record);
  return records_.emplace_back(std::move(record));
}

// Runs on the watchdog's thread. The process must end, because a launch blocks the main thread.
void Campaign::give_up_on_hung_case() {
  Record record = current_->describe();
  record.status = Status::failed;
  record.reason = "the launch did not return: hung";
  try {
    directory_->append(record);
  } catch (const std::exception& error) {
    std::cerr << "ridgebench: " << error.what() << '\n';
  }
  std::cerr << "ridgebench: " << record.id << " hung; earlier results are in "
            << directory_->path().string()
            << std::endl;  // NOLINT(performance-avoid-endl): _Exit flushes nothing
  std::_Exit(static_cast<int>(ExitCode::row_failed));
}

void listen_for_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { g_signalled = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second signal ends the process at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond a file-size limit fails, as on a full disk
  std::signal(SIGPIPE, SIG_IGN);
}

bool signalled() { return g_signalled != 0; }

}  // namespace ridgebench
