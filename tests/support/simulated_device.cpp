#include "tests/support/simulated_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include "harness/device/open_devices.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/node/simulated_node.hpp"

namespace ridgebench {
namespace {

// Seconds of the host: from the end of a batch to the next launch, to read the meters, and between
// two cases.
constexpr double kTurnaround = 30e-6;
constexpr double kMetersRead = 0.01;
constexpr double kBetweenCases = 0.05;
// Seconds in which the temperature comes to 63 % of the way, and degrees Celsius of an idle device.
constexpr double kHeatingTime = 20;
constexpr double kIdleTemperature = 30;

template <class Number>
Number parse_number(std::string_view key, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc{} && end == text.data() + text.size();
  if (!number || !std::isfinite(static_cast<double>(value)) || value < Number{}) {
    throw UsageError(
        fmt::format("simulated device: {}={} is not a number that is at least 0", key, text));
  }
  return value;
}

using Setter = std::function<void(Simulation&, std::string_view key, std::string_view value)>;

template <class Number>
Setter number(Number Simulation::* member) {
  return [member](Simulation& s, std::string_view key, std::string_view value) {
    s.*member = parse_number<Number>(key, value);
  };
}

Setter text(std::string Simulation::* member) {
  return [member](Simulation& s, std::string_view, std::string_view value) { s.*member = value; };
}

const std::map<std::string_view, Setter>& setters() {
  static const std::map<std::string_view, Setter> all{
      {"peak", number(&Simulation::peak)},
      {"bandwidth", number(&Simulation::bandwidth)},
      {"gap", number(&Simulation::gap)},
      {"clock", number(&Simulation::clock)},
      {"memory", number(&Simulation::memory)},
      {"capability", number(&Simulation::capability)},
      {"noise", number(&Simulation::noise)},
      {"process", number(&Simulation::process)},
      {"row", number(&Simulation::row)},
      {"drift", number(&Simulation::drift)},
      {"bimodal", number(&Simulation::bimodal)},
      {"glitch", number(&Simulation::glitch)},
      {"slow", number(&Simulation::slow)},
      {"throttle", number(&Simulation::throttle)},
      {"cap", number(&Simulation::cap)},
      {"power_limit", number(&Simulation::power_limit)},
      {"power", number(&Simulation::power)},
      {"draw", number(&Simulation::draw)},
      {"idle", number(&Simulation::idle)},
      {"busy", number(&Simulation::busy)},
      {"early", number(&Simulation::early)},
      {"cpu_throttle", number(&Simulation::cpu_throttle)},
      {"lose", number(&Simulation::lose)},
      {"hang", number(&Simulation::hang)},
      {"heat", number(&Simulation::heat)},
      {"ecc", number(&Simulation::ecc)},
      {"remaps", number(&Simulation::remaps)},
      {"units", number(&Simulation::units)},
      {"seed", number(&Simulation::seed)},
      {"wrong_sm", text(&Simulation::wrong_sm)},
      {"sheet", text(&Simulation::sheet)},
      {"model", text(&Simulation::model)},
      {"driver", text(&Simulation::driver)},
      {"uuid_hash", text(&Simulation::uuid_hash)},
  };
  return all;
}

// The work of a launch of a case, from its id: OPERATION/TECHNIQUE/FORMAT/SHAPE/REGIME@DEVICE.
// Empty where no operation of that name is registered.
std::optional<Work> work_of(const std::string& id) {
  const std::size_t technique = id.find('/') + 1;
  const auto& operations = Registry::instance().operations();
  const auto found = std::ranges::find(operations, id.substr(0, technique - 1),
                                       [](const auto& operation) { return operation->name; });
  if (found == operations.end()) return std::nullopt;
  const Operation& operation = **found;
  const std::size_t format_at = id.find('/', technique) + 1;
  const std::size_t shape_at = id.find('/', format_at) + 1;
  const FormatPair format = parse_measured_format(id.substr(format_at, shape_at - 1 - format_at));
  const std::string text = id.substr(shape_at, id.rfind('/') - shape_at);
  const Shape shape = parse_shape(text, operation);
  return Work{operation.flops(shape), bytes(operation, shape, format)};
}

}  // namespace

Simulation parse_simulation(const std::string& text) {
  Simulation simulation;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const std::string_view key = item.substr(0, item.find('='));
    const auto setter = setters().find(key);
    if (setter == setters().end() || key.size() == item.size()) {
      std::vector<std::string_view> keys;
      for (const auto& [name, unused] : setters()) keys.push_back(name);
      throw UsageError(fmt::format("simulated device: '{}' is not key=value with a key of: {}",
                                   item, fmt::join(keys, ", ")));
    }
    setter->second(simulation, key, item.substr(key.size() + 1));
  }
  if (simulation.throttle >= 1 || simulation.cap >= 1) {
    throw UsageError("simulated device: throttle and cap are shares below 1");
  }
  const auto [limit, draw, idle] =
      std::tuple(simulation.power_limit, simulation.draw, simulation.idle);
  if (draw > 0 && idle >= std::min(limit, draw)) {
    throw UsageError("simulated device: idle must be below draw and power_limit");
  }
  return simulation;
}

SimulatedDevice::SimulatedDevice(Simulation simulation, const Work& work)
    : simulation_(std::move(simulation)),
      work_(work),
      random_(simulation_.seed),
      rows_random_(~simulation_.seed),
      held_clock_((1 - simulation_.throttle) * (1 - simulation_.cap)) {
  // Small caches keep the shapes small, so that a whole run takes seconds.
  machine_.caches = {{.level = 1, .bytes = 16 << 10, .shared_by = 1},
                     {.level = 2, .bytes = 128 << 10, .shared_by = machine_.units}};
  machine_.compute_capability = simulation_.capability;
  if (simulation_.units > 0) machine_.units = static_cast<int>(simulation_.units);
  machine_.memory_bytes = static_cast<std::int64_t>(simulation_.memory);
  machine_.flops_per_s_hint = 2e8;
  process_factor_ = std::exp(simulation_.process * std::normal_distribution<>()(random_));
  const auto [cap, draw, idle] =
      std::tuple(simulation_.power_limit, simulation_.draw, simulation_.idle);
  if (draw > 0) power_loop_.emplace(PowerModel{cap, draw, idle}, simulation_.seed);
  heat_s_ = now_s();
  if (const auto fault = injected_fault()) inject(*fault);
  if (!simulation_.wrong_sm.empty()) {
    inject({.kind = FaultKind::sm,
            .unit = parse_number<double>("wrong_sm", simulation_.wrong_sm),
            .units = static_cast<double>(machine_.units)});
  }
}

void SimulatedDevice::inject(const InjectedFault& fault) {
  faulty_ = std::make_unique<FaultyMemory>(
      CpuDevice::memory(), fault, [this] { return now_s(); }, [this] { return temperature_c(); });
}

double SimulatedDevice::temperature_c() const {
  const double passed_s = now_s() - heat_s_;
  if (passed_s > 0) {
    const double load = std::min(1.0, (busy_s_ - heat_busy_s_) / passed_s);
    heat_share_ += (load - heat_share_) * -std::expm1(-passed_s / kHeatingTime);
    heat_s_ += passed_s;
    heat_busy_s_ = busy_s_;
  }
  return kIdleTemperature + simulation_.heat * heat_share_;
}

nlohmann::ordered_json SimulatedDevice::state() const {
  nlohmann::ordered_json state = CpuDevice::state();
  if (simulation_.heat > 0) {
    state["sm_clock_hz"] = simulation_.clock * held_clock_;
    state["temperature_c"] = temperature_c();
  }
  ++states_read_;
  if (simulation_.ecc > 0) state["ecc_uncorrected"] = states_read_ < simulation_.ecc ? 0 : 1;
  if (simulation_.remaps > 0) {
    state["remapped_rows"] = {{"corrected", 0},
                              {"uncorrected", simulation_.remaps * (states_read_ - 1)},
                              {"pending", false},
                              {"failed", false}};
  }
  return state;
}

nlohmann::ordered_json SimulatedDevice::identity() const {
  nlohmann::ordered_json identity = CpuDevice::identity();
  identity["name"] = name();
  identity["model"] = simulation_.model;
  if (!simulation_.driver.empty()) identity["driver"] = simulation_.driver;
  if (!simulation_.uuid_hash.empty()) identity["uuid_hash"] = simulation_.uuid_hash;
  identity["event_tick_s"] = tick_s();
  identity["launch_floor_s"] = launch_floor_s();
  if (simulation_.power_limit > 0) identity["power_limit_w"] = simulation_.power_limit;
  return identity;
}

double SimulatedDevice::noise() {
  const Simulation& s = simulation_;
  double factor = process_factor_ * row_factor_ * s.slow / held_clock_ *
                  std::exp(s.noise * std::normal_distribution<>()(random_));
  factor *= 1 + s.drift * static_cast<double>(batches_) / 1000;
  std::uniform_real_distribution<> uniform;
  if (uniform(random_) < 0.5) factor *= 1 + s.bimodal;
  if (uniform(random_) < s.glitch) factor *= 2;
  return factor;
}

void SimulatedDevice::begin_case(const std::string& id) {
  if (const std::optional<Work> work = work_of(id)) work_ = *work;
  if (simulation_.row > 0) {
    row_factor_ = std::exp(simulation_.row * std::normal_distribution<>()(rows_random_));
  }
  host_s_ += kBetweenCases;
  if (!power_loop_) return;
  static_cast<void>(power_loop_->take_watts());
  capped_before_s_ = power_loop_->capped_s(host_s_);
}

nlohmann::ordered_json SimulatedDevice::end_case() {
  nlohmann::ordered_json telemetry = nlohmann::ordered_json::object();
  bool capped = simulation_.cap > 0;
  if (power_loop_) {
    capped = power_loop_->capped_s(host_s_) > capped_before_s_;
    std::vector<double> watts = power_loop_->take_watts();
    std::ranges::sort(watts);
    if (!watts.empty()) {
      telemetry["power_w"] = {
          {"median", watts[watts.size() / 2]}, {"min", watts.front()}, {"max", watts.back()}};
    }
  }
  std::vector<std::string> events;
  if (simulation_.throttle > 0) events.emplace_back("hw_thermal_slowdown");
  if (capped) events.emplace_back("sw_power_cap");
  if (!events.empty()) telemetry["clock_events"] = events;
  return telemetry;
}

Early SimulatedDevice::early(const Launch& /*launch*/) {
  if (simulation_.early > 1) return {.early = {}, .unknown = "the simulation does not say"};
  return {.early = simulation_.early == 1 && queue().early_launches(), .unknown = {}};
}

void SimulatedDevice::run(const Launch& launch) {
  sets_run_ = 1;
  host_s_ += kTurnaround;
  launch();
}

// The model knows at the start how long a batch takes; the host gets there when it waits.
class SimulatedDevice::Batch final : public RunningBatch {
 public:
  Batch(SimulatedDevice& device, Timing timing)
      : device_(&device), timing_(timing), end_s_(device.device_s_) {}
  Timing wait() override {
    device_->host_s_ = std::max(device_->host_s_, end_s_) + kTurnaround;
    return timing_;
  }

 private:
  SimulatedDevice* device_;
  Timing timing_;
  double end_s_;
};

Timing SimulatedDevice::enqueue(double launches) {
  const double factor = noise();
  LaunchTimes launch{.arithmetic = work_.flops / simulation_.peak * factor,
                     .traffic = work_.bytes / simulation_.bandwidth * factor,
                     .gap = simulation_.gap * factor};
  const double idle_s = std::max(0.0, host_s_ - device_s_);
  PowerLoop::Ran ran{.seconds =
                         launches * (std::max(launch.arithmetic, launch.traffic) + launch.gap)};
  if (power_loop_) {
    static_cast<void>(power_loop_->capped_s(host_s_));  // forgets what was before
    power_loop_->idle(idle_s);
    ran = power_loop_->run(launch, launches);
  }
  device_s_ += idle_s + ran.seconds;
  busy_s_ += ran.seconds;
  return {ran.seconds, simulation_.clock * held_clock_ * ran.clock};
}

std::unique_ptr<RunningBatch> SimulatedDevice::start_batch(std::span<const Launch> rotation,
                                                           std::int64_t repeats) {
  ++batches_;
  if (batches_ == simulation_.lose) throw DeviceError(fmt::format("device {} was lost", name()));
  while (batches_ == simulation_.hang) std::this_thread::sleep_for(std::chrono::seconds(1));
  if (rotation.size() > sets_run_) {
    for (const Launch& launch : rotation) launch();
    sets_run_ = rotation.size();
  }
  const Timing timing =
      enqueue(static_cast<double>(repeats) * static_cast<double>(rotation.size()));
  return std::make_unique<Batch>(*this, timing);
}

Timing SimulatedDevice::time_batch(std::span<const Launch> rotation, std::int64_t repeats) {
  return start_batch(rotation, repeats)->wait();
}

// The outputs follow the inputs of this moment.
Timing SimulatedDevice::time_once(std::span<const Launch> launches) {
  for (const Launch& launch : launches) launch();
  sets_run_ = std::max(sets_run_, launches.size());  // the batch only takes their time
  return time_batch(launches, 1);
}

std::vector<Meter> SimulatedDevice::meters() const {
  std::vector<Meter> meters;
  if (power_loop_) {
    host_s_ += kMetersRead;
    const std::vector<CounterReading> energy = power_loop_->energy(0, host_s_);
    meters.push_back({kEnergyMeter, energy.empty() ? 0 : energy.back().total});
    meters.push_back({kPowerCappedMeter, power_loop_->capped_s(host_s_)});
  } else if (simulation_.power > 0) {
    meters.push_back({kEnergyMeter, simulation_.power * busy_s_});
  }
  if (simulation_.cpu_throttle > 0) {
    meters.push_back(
        {kCpuThrottledMeter, simulation_.cpu_throttle * static_cast<double>(batches_)});
  }
  return meters;
}

std::vector<CounterReading> SimulatedDevice::energy_readings(double since_s) const {
  if (!power_loop_) return {};
  return power_loop_->energy(since_s, host_s_);
}

Timing SimulatedDevice::time_cold(const Launch& launch) { return time_once({&launch, 1}); }

namespace {

std::unique_ptr<Device> open_simulated(const std::string& text) {
  // "3" is a GPU of the simulated node, any other text describes a device.
  const bool of_node = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  Simulation simulation = of_node ? simulated_gpu(std::stoul(text)) : parse_simulation(text);
  simulation.tick = 1e-9 + 1e-12 * (getpid() % 997);  // differs between processes, as a host's
  simulation.own_clock = simulation.draw > 0;
  return std::make_unique<SimulatedDevice>(std::move(simulation));
}

DeviceFamily::Found find_simulated() {
  return {.count = static_cast<int>(simulated_gpus().size()), .none = {}};
}

nlohmann::ordered_json describe_simulated(int index) {
  const Simulation gpu = simulated_gpu(static_cast<std::size_t>(index));
  return {{"model", gpu.model}, {"uuid_hash", gpu.uuid_hash}};
}

const RegisterDevices simulated{{.name = "sim",
                                 .open = open_simulated,
                                 .find = find_simulated,
                                 .describe = describe_simulated}};

}  // namespace
}  // namespace ridgebench
