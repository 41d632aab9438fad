// A device for tests. Each launch runs once on the host, so that its output can be verified, but
// the clock is a documented model with seeded noise and faults. No time that it reports is a
// measurement.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "harness/device/cpu/device.hpp"
#include "tests/support/faulty_memory.hpp"
#include "tests/support/power_loop.hpp"

namespace ridgebench {

// What `--device sim:key=value,...` can set.
struct Simulation {
  // Time of a launch: max(flops / peak, bytes / bandwidth) + gap, slowed by the factors below.
  double peak = 1e12;       // FLOP/s, every engine and format
  double bandwidth = 1e11;  // byte/s
  double gap = 2e-6;        // seconds
  double tick = 1e-9;       // seconds, of the timer
  double clock = 1e9;       // Hz, reported as held
  double memory = 1 << 28;  // bytes
  int capability = 0;       // compute capability, 90 for 9.0; 0: of a host
  std::string sheet;        // data sheet the device claims to match; empty: none
  // Name in its identity; empty: not reported.
  std::string model = "simulated device: no measurement";
  std::string driver;
  std::string uuid_hash;
  std::string name = "sim";
  // Noise of a sample: exp(noise * N(0,1)); of the whole process: exp(process * N(0,1)); of a row
  // in this process: exp(row * N(0,1)). The seed alone decides process and row.
  double noise = 0.004;
  double process = 0;
  double row = 0;
  double drift = 0;    // relative change over 1000 batches
  double bimodal = 0;  // relative distance of a second level that half of the samples take
  double glitch = 0;   // share of samples that take twice as long
  double slow = 1;     // factor on every time: an injected regression
  // Shares by which the clock is lower, and every time longer: through heat, or because the row
  // draws more power than allowed. Telemetry names the cause.
  double throttle = 0;
  double cap = 0;
  double power_limit = 0;  // watt, as reported, and the cap of the power loop; 0: not reported
  double busy = 1;         // share of the device that a launch can keep busy
  double power = 0;        // watt drawn during launches; 0: not reported, or a power loop
  // Watts that arithmetic draws at the full clock, and an idle device. With a draw, the clock and
  // the energy counter are those of power_loop.hpp, `clock` is the full clock, and reading the
  // meters takes 10 ms of the host. Needs a power_limit between idle and draw.
  double draw = 0;
  double idle = 100;
  int early = 0;            // 1: launches may start before the one ahead has ended; 2: unknown
  double cpu_throttle = 0;  // periods per batch in which a CPU quota stops it; 0: not reported
  // Degrees Celsius by which a full load warms the device above 30; 0: no temperature is reported.
  double heat = 0;
  double ecc = 0;  // reading of the state from which on it has an ECC error; 0: never, not reported
  // Rows of memory that a spare row replaces at each reading of the state after the first one; 0:
  // none, and none are reported.
  double remaps = 0;
  std::string wrong_sm;  // number of a multiprocessor that computes wrong bits; empty: none
  double units = 0;      // multiprocessors; 0: one for each thread of the host
  // Faults, by the number of the timed batch (from 1; 0: never).
  std::int64_t lose = 0;  // the device is lost
  std::int64_t hang = 0;  // the launch never returns
  std::uint64_t seed = 1;
  // No key: `--device sim` has the host's clock unless it has a power loop, so that its rows take
  // their time and tests can interrupt a run.
  bool own_clock = true;
};

// Reads "key=value,key=value". Throws UsageError listing the keys.
Simulation parse_simulation(const std::string& text);

class SimulatedDevice final : public CpuDevice {
 public:
  explicit SimulatedDevice(Simulation simulation, const Work& work = {});

  [[nodiscard]] std::string name() const override { return simulation_.name; }
  [[nodiscard]] bool processes_differ() const override { return false; }
  [[nodiscard]] nlohmann::ordered_json identity() const override;
  [[nodiscard]] std::string data_sheet() const override { return simulation_.sheet; }
  [[nodiscard]] double free_bytes() const override { return simulation_.memory; }
  // That of the host, with wrong bits where a fault was injected.
  [[nodiscard]] DeviceMemory& memory() override { return faulty_ ? *faulty_ : CpuDevice::memory(); }
  void inject(const InjectedFault& fault);
  [[nodiscard]] nlohmann::ordered_json state() const override;
  [[nodiscard]] double tick_s() const override { return simulation_.tick; }
  [[nodiscard]] double launch_floor_s() const override { return simulation_.gap; }
  // Seconds of the model. The device is busy or idle meanwhile: it idles where the host starts no
  // batch before the last one ends. The host takes 30 us from the end of a batch to the next.
  [[nodiscard]] double now_s() const override {
    return simulation_.own_clock ? host_s_ : CpuDevice::now_s();
  }
  // Lets time pass in which the host starts nothing.
  void pass(double seconds) { host_s_ += seconds; }
  // The amount of work of one launch, by which the clock goes until the next call. begin_case()
  // sets it for the cases of registered operations.
  void set_work(const Work& work) { work_ = work; }
  void begin_case(const std::string& id) override;
  nlohmann::ordered_json end_case() override;
  // With a power loop the device is like a GPU, without one like a host.
  [[nodiscard]] bool asynchronous() const override { return power_loop_.has_value(); }
  [[nodiscard]] double tensor_warm_up_s() const override { return power_loop_ ? 0.5 : 0; }
  Timing time_once(std::span<const Launch> launches) override;
  Timing time_batch(std::span<const Launch> rotation, std::int64_t repeats) override;
  std::unique_ptr<RunningBatch> start_batch(std::span<const Launch> rotation,
                                            std::int64_t repeats) override;
  Timing time_cold(const Launch& launch) override;
  void run(const Launch& launch) override;
  [[nodiscard]] std::vector<Meter> meters() const override;
  [[nodiscard]] std::vector<CounterReading> energy_readings(double since_s) const override;
  [[nodiscard]] std::optional<double> busy_share(const Launch& /*launch*/) override {
    return simulation_.busy;
  }
  [[nodiscard]] Early early(const Launch& launch) override;

 private:
  class Batch;

  double noise();
  // Adds a batch of `launches` to what the device has to do.
  Timing enqueue(double launches);
  // Approaches that of the present load by kHeatingTime.
  [[nodiscard]] double temperature_c() const;

  Simulation simulation_;
  Work work_{};
  std::mt19937_64 random_;
  std::mt19937_64 rows_random_;  // its own: the samples before a row must not change the row
  double process_factor_ = 1;
  double row_factor_ = 1;
  double held_clock_ = 1;  // share of the nominal one
  std::int64_t batches_ = 0;
  double busy_s_ = 0;
  mutable double states_read_ = 0;
  mutable double heat_share_ = 0;  // of a full load's heat
  mutable double heat_s_ = 0;      // when that was
  mutable double heat_busy_s_ = 0;
  mutable double host_s_ = 0;  // reading the meters takes the host's time
  double device_s_ = 0;        // when the last batch ends
  mutable std::optional<PowerLoop> power_loop_;
  double capped_before_s_ = 0;  // before the present case
  std::unique_ptr<FaultyMemory> faulty_;
  std::size_t sets_run_ = 0;  // whose outputs exist: for those the model alone goes on
};

}  // namespace ridgebench
