#include "harness/device/isolated/kernel_server.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "harness/base/stopwatch.hpp"
#include "harness/device/cpu/device.hpp"
#include "harness/device/cpu/info.hpp"
#include "harness/device/isolated/rows_of_sets.hpp"
#include "harness/device/isolated/wire.hpp"
#include "kernels/common/reference/batched.hpp"

namespace ridgebench {
namespace {

FormatPair format_of_command(const nlohmann::json& command) {
  return wire::format_pair(command.at("format"));
}

Profile profile_of(const nlohmann::json& command) {
  return parse<Profile>(command.at("profile").get<std::string>());
}

}  // namespace

KernelServer::KernelServer()
    : first_operation_(Registry::instance().operations().size()),
      first_implementation_(Registry::instance().implementations().size()) {}

nlohmann::json KernelServer::answer(const Json& command) {
  const auto what = command.at("do").get<std::string>();
  if (what == "describe") return describe();
  if (what == "threads") return use_threads(command);
  if (command.contains("operation")) return of_operation(command);
  return of_implementation(command);
}

nlohmann::json KernelServer::describe() const {
  const Registry& registry = Registry::instance();
  Json operations = Json::array();
  for (std::size_t i = first_operation_; i < registry.operations().size(); ++i) {
    operations.push_back(wire::of(*registry.operations()[i]));
  }
  Json implementations = Json::array();
  for (std::size_t i = first_implementation_; i < registry.implementations().size(); ++i) {
    implementations.push_back(wire::of(*registry.implementations()[i]));
  }
  return {{"operations", operations}, {"implementations", implementations}};
}

// As CpuDevice's constructor does.
nlohmann::json KernelServer::use_threads(const Json& command) {
  const int threads = command.at("threads").get<int>();
  omp_set_num_threads(threads);
  omp_set_dynamic(0);
  queue_ = make_cpu_queue(threads);
  return pin_threads(threads, allowed_processors());
}

nlohmann::json KernelServer::of_operation(const Json& command) const {
  const auto index = command.at("operation").get<std::size_t>();
  const Operation& o = *Registry::instance().operations().at(first_operation_ + index);
  const auto what = command.at("do").get<std::string>();
  if (what == "shapes") {
    const Pace pace = command.at("pace").get<int>() == 0 ? Pace::naive : Pace::fast;
    Json shapes = Json::array();
    for (const Shape& s :
         o.shapes(profile_of(command), pace, wire::machine(command.at("machine")))) {
      shapes.push_back(wire::of(s));
    }
    return shapes;
  }
  if (what == "most_per_clock") {
    return o.ceiling->most_per_clock(wire::machine(command.at("machine")),
                                     format_of_command(command));
  }
  const Shape shape = wire::shape(command.at("shape"));
  if (what == "flops") return o.flops(shape);
  if (what == "operands") return wire::of(o.operands(shape, format_of_command(command)));
  if (what == "row_length") return o.row_length(shape);
  if (what == "reduction") return o.reduction(shape);
  if (what == "special") return o.special(shape);
  if (what == "traffic") return o.traffic(shape, format_of_command(command));
  if (what == "reference") return reference(o, command);
  throw std::runtime_error("an unknown function of an operation: " + what);
}

nlohmann::json KernelServer::reference(const Operation& operation, const Json& command) const {
  const Shape shape = wire::shape(command.at("shape"));
  std::vector<RowsOfSet> sets;
  for (const Json& one : command.at("sets")) {
    auto* const out = reinterpret_cast<Expected*>(address(one.at("out")));
    RowsOfSet& set = sets.emplace_back(RowsOfSet{one.at("rows").get<std::vector<std::int64_t>>(),
                                                 one.at("length").get<std::size_t>(),
                                                 {},
                                                 {out, one.at("elements").get<std::size_t>()}});
    for (const Json& input : one.value("inputs", Json::array())) {
      set.in.push_back({address(input.at(0)), wire::format_pair(input.at(1)).a});
    }
  }
  compute_rows(operation, shape, sets, command.at("threads").get<int>());
  return nullptr;
}

const Implementation& KernelServer::implementation(const Json& command) const {
  const auto index = command.at("implementation").get<std::size_t>();
  return *Registry::instance().implementations().at(first_implementation_ + index);
}

nlohmann::json KernelServer::of_implementation(const Json& command) {
  const Implementation& i = implementation(command);
  const auto what = command.at("do").get<std::string>();
  if (what == "prepare") return prepare(i, command);
  if (what == "unit_times") return i.unit_times(plan(command));
  if (what == "named_plans") return named_plans(i);
  const Machine machine = wire::machine(command.at("machine"));
  if (what == "full_rate") return i.technique.full_rate(machine);
  if (what != "supports") throw std::runtime_error("an unknown function of a technique: " + what);
  const auto reason =
      i.technique.supports(machine, wire::shape(command.at("shape")), format_of_command(command));
  return reason ? Json(*reason) : Json();
}

Plan KernelServer::plan(const Json& command) const {
  const Json& number = command.at("plan");
  return number.is_null() ? nullptr : plans_.at(number.get<std::uint64_t>());
}

std::uint64_t KernelServer::keep(Plan plan) {
  plans_[++last_plan_] = std::move(plan);
  return last_plan_;
}

nlohmann::json KernelServer::prepare(const Implementation& implementation, const Json& command) {
  const Plan plan = implementation.prepare(*queue_, wire::shape(command.at("shape")));
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
        *queue_, plan(command), wire::shape(command.at("shape")), operands);
  } catch (...) {
    if (!bind_failure_) bind_failure_ = std::current_exception();
  }
}

void KernelServer::check_bound() {
  if (bind_failure_) std::rethrow_exception(std::exchange(bind_failure_, nullptr));
}

void KernelServer::release(std::uint64_t number) {
  launches_.erase(number);
  plans_.erase(number);
}

void KernelServer::map(std::span<const std::uint64_t> arena, int descriptor) {
  arenas_.try_emplace(arena[0], descriptor, arena[1], arena[2] != 0);
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
  for (const std::uint64_t launch : launches) launches_.at(launch)();
}

double KernelServer::time(std::span<const std::uint64_t> batch) {
  std::vector<const Launch*> launches;
  for (std::size_t i = 1; i + 1 < batch.size(); i += 2) {
    for (std::uint64_t j = 0; j < batch[i + 1]; ++j) {
      launches.push_back(&launches_.at(batch[i] + j));
    }
  }
  // The threads are awake, as they are in a process that launches batch after batch.
#pragma omp parallel
  asm volatile("" ::: "memory");
  const Stopwatch clock;
  for (std::uint64_t i = 0; i < batch[0]; ++i) {
    for (const Launch* const launch : launches) (*launch)();
  }
  return clock.seconds();
}

}  // namespace ridgebench
