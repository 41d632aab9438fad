// A GPU known by its facts only: its rows can be listed, and nothing can run on it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "harness/cli/doctor/facts.hpp"
#include "harness/device/device.hpp"

namespace ridgebench::doctor {

// The keys compute_capability, sms, l2_bytes and memory_bytes of a GPU; 0 if one is null.
Machine machine_of_gpu(const Facts& gpu);

class ListedDevice final : public Device {
 public:
  ListedDevice(std::string name, Machine machine)
      : name_(std::move(name)), machine_(std::move(machine)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Backend backend() const override { return Backend::cuda; }
  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] nlohmann::ordered_json identity() const override { return {}; }
  [[nodiscard]] Queue& queue() override { refuse(); }
  [[nodiscard]] double free_bytes() const override {
    return static_cast<double>(machine_.memory_bytes);
  }
  [[nodiscard]] DeviceMemory& memory() override { refuse(); }
  [[nodiscard]] double tick_s() const override { return 0; }
  [[nodiscard]] double launch_floor_s() const override { return 0; }
  Timing time_batch(std::span<const Launch>, std::int64_t) override { refuse(); }
  Timing time_cold(const Launch&) override { refuse(); }
  void run(const Launch&) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("a listed device runs nothing"); }

  std::string name_;
  Machine machine_;
};

}  // namespace ridgebench::doctor
