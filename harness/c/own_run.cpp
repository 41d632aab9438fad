#include "harness/c/own_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "harness/base/statistics.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/c/texts.hpp"
#include "harness/cli/run/measure_plan.hpp"
#include "harness/device/isolated/serve.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/measure/verifying/output_check.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/results_directory.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {
namespace {

constexpr double kMostSecondsOfRun = 1e9;

// Takes the operations of a run out of the registry when the run ends.
class TemporaryOperations {
 public:
  explicit TemporaryOperations(std::vector<std::string> operations)
      : operations_(std::move(operations)) {}
  TemporaryOperations(const TemporaryOperations&) = delete;  // removes them once
  TemporaryOperations& operator=(const TemporaryOperations&) = delete;
  ~TemporaryOperations() { Registry::instance().remove(operations_); }

 private:
  std::vector<std::string> operations_;
};

// Median seconds of a launch, of which `seconds_of` times a number.
template <class SecondsOf>
double median_launch_s(const SecondsOf& seconds_of) {
  constexpr int kSamples = 21;
  constexpr std::int64_t kLaunches = 50;
  seconds_of(1);
  std::vector<double> samples;
  samples.reserve(kSamples);
  for (int i = 0; i < kSamples; ++i) samples.push_back(seconds_of(kLaunches) / kLaunches);
  return middle(samples);
}

double launch_floor_s(Device& device, const ridgebench_request& asked) {
  if (asked.empty_launch == nullptr) return 0;
  const Launch empty = [&] { asked.empty_launch(asked.user); };
  return median_launch_s(
      [&](std::int64_t launches) { return device.time_batch({&empty, 1}, launches).seconds; });
}

std::map<Backend, double> launch_floors(const std::vector<std::unique_ptr<Device>>& devices,
                                        const ridgebench_request& asked) {
  std::map<Backend, double> floors;
  for (const auto& device : devices) {
    double& floor = floors[device->backend()];
    floor = std::max(floor, launch_floor_s(*device, asked));
  }
  return floors;
}

// The entry of environment.json.
nlohmann::ordered_json own_facts(const std::vector<std::string>& operations,
                                 const std::map<Backend, double>& floors) {
  nlohmann::ordered_json by_backend = nlohmann::ordered_json::object();
  for (const auto& [backend, floor] : floors) by_backend[std::string(name(backend))] = floor;
  return {{"operations", operations}, {"launch_floor_s", by_backend}};
}

RunRequest request_of(const ridgebench_request& asked, const std::string& filter) {
  RunRequest request;
  request.device = text_of(asked.device);
  request.filter = filter;
  request.fill = parse<Fill>(text_of(asked.fill));
  for (const std::string& regime : parts_of(text_of(asked.regimes))) {
    request.regimes.push_back(parse<Regime>(regime));
  }
  request.seed = asked.seed;
  if (static_cast<double>(asked.seed) > kLargestCount) {
    throw UsageError(fmt::format("seed {}; allowed: 0 to 2^53", asked.seed));
  }
  if (!(asked.seconds >= 0 && asked.seconds <= kMostSecondsOfRun)) {
    throw UsageError(fmt::format("{} seconds; allowed: 0 (no limit) to 1e9", asked.seconds));
  }
  if (asked.seconds > 0) request.budget_s = asked.seconds;
  return request;
}

}  // namespace

void OwnRun::add_operation(const ridgebench_operation& described) {
  const std::string name = checked_name("operation", described.name);
  for (const auto& known : Registry::instance().operations()) {
    if (known->name == name) {
      throw UsageError(fmt::format("ridgebench has an operation {}; allowed: another name", name));
    }
  }
  const auto same = [&](const OwnOperation& operation) { return operation.name() == name; };
  if (std::ranges::any_of(operations_, same)) {
    throw UsageError(fmt::format("operation {} comes twice", name));
  }
  operations_.emplace_back(described);
}

OwnOperation& OwnRun::operation(std::string_view name) {
  const auto found = std::ranges::find(operations_, name, &OwnOperation::name);
  if (found != operations_.end()) return *found;
  throw UsageError(
      fmt::format("unknown operation '{}'; allowed: {}", name, fmt::join(names(), ", ")));
}

void OwnRun::add_technique(const ridgebench_technique& described) {
  OwnTechnique technique(described, operation(text_of(described.operation)));
  const auto same = [&](const OwnTechnique& other) {
    return other.operation() == technique.operation() && other.name() == technique.name() &&
           other.backend() == technique.backend();
  };
  if (std::ranges::any_of(techniques_, same)) {
    throw UsageError(fmt::format("kernel {} of {} comes twice; allowed: a name for each",
                                 technique.name(), technique.operation()));
  }
  techniques_.push_back(std::move(technique));
}

std::vector<std::string> OwnRun::names() const {
  std::vector<std::string> names;
  for (const OwnOperation& operation : operations_) names.push_back(operation.name());
  return names;
}

std::string OwnRun::filter() const {
  std::vector<std::string> ids;
  for (const OwnTechnique& t : techniques_) {
    ids.push_back(fmt::format("{}/{}", t.operation(), t.name()));
  }
  return fmt::format("^({})/", fmt::join(ids, "|"));
}

void OwnRun::require_something_to_measure(const Devices& devices) const {
  if (techniques_.empty()) throw UsageError("there is no kernel to measure; allowed: one or more");
  for (const OwnOperation& operation : operations_) {
    if (operation.has_shapes()) continue;
    throw UsageError(fmt::format("{} has no shape to be measured at", operation.name()));
  }
  for (const OwnTechnique& technique : techniques_) {
    const auto serves = [&](const auto& device) {
      return device->backend() == technique.backend();
    };
    if (std::ranges::any_of(devices, serves)) continue;
    std::vector<std::string> names;
    for (const auto& device : devices) names.push_back(device->name());
    throw UsageError(fmt::format("kernel {} is for {}, but the device of this run is {}",
                                 technique.name(), ridgebench::name(technique.backend()),
                                 fmt::join(names, ", ")));
  }
}

void OwnRun::enter_registry(const std::map<Backend, double>& floors,
                            const std::shared_ptr<CallerThread>& thread) const {
  Registry& registry = Registry::instance();
  for (const OwnOperation& own : operations_) {
    const Operation operation = own.operation();
    for (const OwnTechnique& t : techniques_) {
      if (t.operation() != own.name()) continue;
      for (auto& one : t.implementations(operation, floors.at(t.backend()), thread)) {
        registry.add(std::move(one));
      }
    }
    registry.add(operation);
  }
}

void OwnRun::serve(std::int32_t (*empty_launch)(void* user), void* user) const {
  if (techniques_.empty()) throw UsageError("there is no kernel to serve; allowed: one or more");
  const auto seconds_of = [&](std::int64_t launches) {
    const Stopwatch clock;
    for (std::int64_t i = 0; i < launches; ++i) empty_launch(user);
    return clock.seconds();
  };
  const double floor_s = empty_launch == nullptr ? 0 : median_launch_s(seconds_of);
  std::map<Backend, double> floors;
  for (const OwnTechnique& technique : techniques_) floors[technique.backend()] = floor_s;
  KernelServer server;  // counts what enters the registry, which then stays in this order
  enter_registry(floors, std::make_shared<CallerThread>());
  answer_commands(server);
}

ExitCode OwnRun::measure(const ridgebench_request& asked) {
  const Stopwatch clock;
  const RunRequest request = request_of(asked, filter());
  static_cast<void>(draw_check_seed());  // a value that is not a seed must not leave a folder
  const auto thread = std::make_shared<CallerThread>();
  const Devices devices = open_devices(request.device);
  thread->keep_pinned_processors();
  require_something_to_measure(devices);
  const TemporaryOperations registered(names());
  const std::map<Backend, double> floors = launch_floors(devices, asked);
  enter_registry(floors, thread);
  Registry::instance().resolve();
  RunPlan plan(request, devices, [](const Case&) { return false; });
  const std::string folder = text_of(asked.folder);
  listen_for_signals();
  RunSettings settings{
      .request = request,
      .folder = folder.empty() ? create_default_folder() : std::filesystem::path(folder),
      .more_facts = {{"own_kernels", own_facts(names(), floors)}}};
  for (int i = 0; i < asked.command_line_count; ++i) {
    settings.command_line.push_back(text_of(asked.command_line[i]));
  }
  folder_ = settings.folder.string();
  return measure_plan(std::move(plan), settings, devices, clock);
}

}  // namespace ridgebench
