// The part of KernelServer that prepares, binds and launches.
#include <exception>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "harness/base/stopwatch.hpp"
#include "harness/device/isolated/kernel_server.hpp"
#include "harness/device/isolated/wire.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// A fault of a kernel costs the GPU's context of this process, and no other one.
template <class F>
auto on_device(const F& f) {
  try {
    return f();
  } catch (const DeviceError& error) {
    throw std::runtime_error(error.what());
  }
}

}  // namespace

Plan KernelServer::plan(const Json& command) const {
  const Json& number = command.at("plan");
  return number.is_null() ? nullptr : plans_.at(number.get<std::uint64_t>());
}

std::uint64_t KernelServer::keep(Plan plan) {
  plans_[++last_plan_] = std::move(plan);
  return last_plan_;
}

nlohmann::json KernelServer::prepare(const Implementation& implementation, const Json& command) {
  const Plan plan = implementation.prepare(queue(), wire::shape(command.at("shape")));
  Json choice;
  if (implementation.choice) choice = implementation.choice(plan);
  return {{"plan", keep(plan)}, {"choice", choice}};
}

nlohmann::json KernelServer::named_plans(const Implementation& implementation) {
  Json plans = Json::array();
  for (NamedPlan& one : implementation.named_plans()) {
    Json choice;
    if (implementation.choice) choice = implementation.choice(one.plan);
    plans.push_back({{"name", one.name}, {"plan", keep(std::move(one.plan))}, {"choice", choice}});
  }
  return plans;
}

void KernelServer::bind(const Json& command) {
  try {
    std::vector<void*> operands;
    for (const Json& place : command.at("operands")) operands.push_back(address(place));
    launches_[command.at("number").get<std::uint64_t>()] = implementation(command).bind(
        queue(), plan(command), wire::shape(command.at("shape")), operands);
  } catch (...) {
    if (!bind_failure_) bind_failure_ = std::current_exception();
  }
}

void KernelServer::check_bound() {
  if (bind_failure_) std::rethrow_exception(std::exchange(bind_failure_, nullptr));
}

void KernelServer::release(std::span<const std::uint64_t> numbers) {
  rotations_.clear();
  if (device_) device_->end_case();  // forgets its graphs of these rotations
  for (const std::uint64_t number : numbers) {
    launches_.erase(number);
    plans_.erase(number);
  }
}

void KernelServer::map(std::span<const std::uint64_t> arena, int descriptor) {
  const auto [number, bytes, writable] = std::tuple(arena[0], arena[1], arena[2] != 0);
  if (device_) {
    arenas_.insert_or_assign(number, device_->map_shared(descriptor, bytes, writable));
  } else {
    arenas_.insert_or_assign(number, MappedArena(descriptor, bytes, writable));
  }
}

void KernelServer::populate(std::span<const std::uint64_t> arena) const {
  if (const auto found = arenas_.find(arena[0]); found != arenas_.end()) {
    found->second.populate(arena[1]);
  }
}

std::byte* KernelServer::address(const Json& place) const {
  return arenas_.at(place.at(0).get<std::uint64_t>()).at(place.at(1).get<std::size_t>());
}

void KernelServer::run(std::span<const std::uint64_t> launches) {
  if (!device_) {
    for (const std::uint64_t launch : launches) launches_.at(launch)();
    return;
  }
  on_device([&] {
    for (const std::uint64_t launch : launches) device_->run(launches_.at(launch));
    device_->wait_for_all();
  });
}

// The device may keep facts on a rotation by its address.
std::span<const Launch> KernelServer::rotation_of(std::span<const std::uint64_t> batch) {
  const auto [kept, is_new] = rotations_.try_emplace({batch.begin() + 1, batch.end()});
  if (is_new) {
    for (std::size_t i = 1; i + 1 < batch.size(); i += 2) {
      for (std::uint64_t j = 0; j < batch[i + 1]; ++j) {
        kept->second.push_back(launches_.at(batch[i] + j));
      }
    }
  }
  return kept->second;
}

double KernelServer::time(std::span<const std::uint64_t> batch) {
  const std::span<const Launch> launches = rotation_of(batch);
  if (device_) {
    return on_device([&] {
      const double seconds =
          device_->time_batch(launches, static_cast<std::int64_t>(batch[0])).seconds;
      device_->wait_for_all();
      return seconds;
    });
  }
  // The threads are awake, as they are in a process that launches batch after batch.
#pragma omp parallel
  asm volatile("" ::: "memory");
  const Stopwatch clock;
  for (std::uint64_t i = 0; i < batch[0]; ++i) {
    for (const Launch& launch : launches) launch();
  }
  return clock.seconds();
}

}  // namespace ridgebench
