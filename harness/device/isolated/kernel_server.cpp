#include "harness/device/isolated/kernel_server.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "harness/device/cpu/device.hpp"
#include "harness/device/cpu/info.hpp"
#include "harness/device/isolated/rows_of_sets.hpp"
#include "harness/device/isolated/wire.hpp"
#include "harness/device/open_devices.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/reference/batched.hpp"

namespace ridgebench {
namespace {

FormatPair format_of_command(const nlohmann::json& command) {
  return wire::format_pair(command.at("format"));
}

Profile profile_of(const nlohmann::json& command) {
  return parse<Profile>(command.at("profile").get<std::string>());
}

nlohmann::json json_of(const std::optional<std::string>& reason) {
  return reason ? nlohmann::json(*reason) : nlohmann::json();
}

}  // namespace

KernelServer::KernelServer()
    : first_operation_(Registry::instance().operations().size()),
      first_implementation_(Registry::instance().implementations().size()) {}

nlohmann::json KernelServer::answer(const Json& command) {
  const auto what = command.at("do").get<std::string>();
  if (what == "describe") return describe();
  if (what == "threads") return use_threads(command);
  if (what == "open") return open(command);
  if (command.contains("launch")) return of_launch(command);
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

nlohmann::json KernelServer::open(const Json& command) {
  device_ = open_one_device(command.at("device").get<std::string>());
  device_->queue().allow_early_launches(command.at("early").get<bool>());
  return nullptr;
}

Queue& KernelServer::queue() { return device_ ? device_->queue() : *queue_; }

nlohmann::json KernelServer::of_launch(const Json& command) {
  const Launch& launch = launches_.at(command.at("launch").get<std::uint64_t>());
  const auto what = command.at("do").get<std::string>();
  if (what == "early") {
    const Early early = device_->early(launch);
    return {{"early", early.early ? Json(*early.early) : Json()}, {"unknown", early.unknown}};
  }
  if (what != "busy_share") throw std::runtime_error("an unknown question of a launch: " + what);
  const std::optional<double> share = device_->busy_share(launch);
  return share ? Json(*share) : Json();
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
  if (what == "reference") return reference(o, command);
  const Shape shape = wire::shape(command.at("shape"));
  try {
    return of_shape(o, what, shape, command);
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw UsageError(
        fmt::format("{} of {} at {} failed: {}", what, o.name, shape.text(), error.what()));
  }
}

nlohmann::json KernelServer::of_shape(const Operation& o, const std::string& what,
                                      const Shape& shape, const Json& command) {
  if (what == "flops") return o.flops(shape);
  if (what == "operands") return wire::of(o.operands(shape, format_of_command(command)));
  if (what == "row_length") return o.row_length(shape);
  if (what == "reduction") return o.reduction(shape);
  if (what == "special") return o.special(shape);
  if (what == "refuses") return json_of(o.refuses(shape));
  if (what == "traffic") return o.traffic(shape, format_of_command(command));
  throw std::runtime_error("an unknown function");
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
  return json_of(
      i.technique.supports(machine, wire::shape(command.at("shape")), format_of_command(command)));
}

}  // namespace ridgebench
