#include <fmt/format.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <utility>

#include "harness/device/isolated/gpu/in_process.hpp"
#include "harness/device/isolated/kernels_file.hpp"
#include "harness/device/isolated/remote_launch.hpp"
#include "harness/device/isolated/remote_reference.hpp"
#include "harness/device/isolated/wire.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/reference/batched.hpp"

namespace ridgebench {
namespace {

using Json = nlohmann::json;
using File = std::shared_ptr<KernelsFile>;

// The registry has plain pointers to some functions. Each of these is one of a file.
constexpr std::size_t kSlots = 32;

template <class Result, class... Arguments>
class Slots {
 public:
  using Pointer = Result (*)(Arguments...);

  // Throws UsageError if the program has as many already.
  static Pointer add(const std::string& file, std::function<Result(Arguments...)> function) {
    if (functions().size() == kSlots) {
      throw UsageError(fmt::format("--load {}: more than {} functions of ceilings", file, kSlots));
    }
    functions().push_back(std::move(function));
    return pointers(std::make_index_sequence<kSlots>()).at(functions().size() - 1);
  }

 private:
  static std::vector<std::function<Result(Arguments...)>>& functions() {
    static std::vector<std::function<Result(Arguments...)>> all;
    return all;
  }
  template <std::size_t I>
  static Result call(Arguments... arguments) {
    return functions()[I](arguments...);
  }
  template <std::size_t... I>
  static constexpr std::array<Pointer, kSlots> pointers(std::index_sequence<I...> /*numbers*/) {
    return {call<I>...};
  }
};

// Returns a command with the arguments of a function of operation number `index`.
auto command_of(std::size_t index, const char* function) {
  return [index, function](const Shape& shape) {
    return Json{{"do", function}, {"operation", index}, {"shape", wire::of(shape)}};
  };
}

std::function<double(const Shape&)> number_function(const File& file, std::size_t index,
                                                    const char* name) {
  return [file, command = command_of(index, name)](const Shape& shape) {
    return file->value_of(command(shape)).get<double>();
  };
}

std::optional<std::string> reason_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<std::string>());
}

std::vector<Shape> shapes_of(const Json& json) {
  std::vector<Shape> shapes;
  for (const Json& one : json) shapes.push_back(wire::shape(one));
  return shapes;
}

void add_functions(Operation& o, const File& file, std::size_t index, const Json& described) {
  const auto has = [&](const char* name) { return wire::has(described, name); };
  if (has("flops")) o.flops = number_function(file, index, "flops");
  if (has("reduction")) o.reduction = number_function(file, index, "reduction");
  if (has("special")) o.special = number_function(file, index, "special");
  if (has("refuses")) {
    o.refuses = [file, command = command_of(index, "refuses")](const Shape& shape) {
      return reason_of(file->value_of(command(shape)));
    };
  }
  if (has("row_length")) {
    o.row_length = [file, command = command_of(index, "row_length")](const Shape& shape) {
      return file->value_of(command(shape)).get<std::int64_t>();
    };
  }
  if (has("operands")) {
    o.operands = [file, command = command_of(index, "operands")](const Shape& shape, FormatPair f) {
      Json asked = command(shape);
      asked["format"] = wire::of(f);
      return wire::operands(file->value_of(asked));
    };
  }
  if (has("traffic")) {
    o.traffic = [file, command = command_of(index, "traffic")](const Shape& shape, FormatPair f) {
      Json asked = command(shape);
      asked["format"] = wire::of(f);
      return file->value_of(asked).get<double>();
    };
  }
  if (has("reference")) o.reference = BatchedReference{RemoteReference(file, index)};
  if (has("shapes")) {
    o.shapes = [file, index](Profile profile, Pace pace, const Machine& machine) {
      return shapes_of(file->value_of({{"do", "shapes"},
                                       {"operation", index},
                                       {"profile", name(profile)},
                                       {"pace", pace == Pace::naive ? 0 : 1},
                                       {"machine", wire::of(machine)}}));
    };
  }
  if (has("most_per_clock")) {
    o.ceiling->most_per_clock = Slots<double, const Machine&, FormatPair>::add(
        file->file(), [file, index](const Machine& machine, FormatPair format) {
          return file
              ->value_of({{"do", "most_per_clock"},
                          {"operation", index},
                          {"machine", wire::of(machine)},
                          {"format", wire::of(format)}})
              .get<double>();
        });
  }
}

void add_facts(Technique& t, const File& file, std::size_t index, const Json& described) {
  if (wire::has(described, "supports")) {
    t.supports = [file, index](const Machine& machine, const Shape& shape, FormatPair format) {
      return reason_of(file->value_of({{"do", "supports"},
                                       {"implementation", index},
                                       {"machine", wire::of(machine)},
                                       {"shape", wire::of(shape)},
                                       {"format", wire::of(format)}}));
    };
  }
  if (wire::has(described, "full_rate")) {
    t.full_rate =
        Slots<bool, const Machine&>::add(file->file(), [file, index](const Machine& machine) {
          return file
              ->value_of(
                  {{"do", "full_rate"}, {"implementation", index}, {"machine", wire::of(machine)}})
              .get<bool>();
        });
  }
}

Plan plan_of(const std::shared_ptr<KernelProcess>& process, const Json& made) {
  const Json& choice = made.at("choice");
  return std::make_shared<RemotePlan>(process, made.at("plan").get<std::uint64_t>(),
                                      choice.is_null() ? "" : choice.get<std::string>());
}

const RemotePlan& remote_plan(const Plan& plan) { return *static_cast<RemotePlan*>(plan.get()); }

// A technique's functions run in the process that launches. `bind` is its function `bind`.
void add_launching(Implementation& i, const File& file, std::size_t index, const Json& described,
                   RemoteBind bind) {
  const auto has = [&](const char* name) { return wire::has(described, name); };
  i.bind = std::move(bind);
  if (has("prepare")) {
    i.prepare = [file, index](Queue& queue, const Shape& shape) {
      const auto process = file->launcher(queue);
      return plan_of(
          process,
          process->ask({{"do", "prepare"}, {"implementation", index}, {"shape", wire::of(shape)}}));
    };
  }
  if (has("choice")) i.choice = [](const Plan& plan) { return remote_plan(plan).choice; };
  if (has("named_plans")) {
    i.named_plans = [file, index] {
      const auto process = file->launcher();
      std::vector<NamedPlan> plans;
      const Json made = process->ask({{"do", "named_plans"}, {"implementation", index}});
      for (const Json& one : made) {
        plans.push_back({one.at("name").get<std::string>(), plan_of(process, one)});
      }
      return plans;
    };
  }
  if (has("unit_times")) {
    i.unit_times = [index](const Plan& plan) {
      const Json times = remote_plan(plan).process->ask(
          {{"do", "unit_times"}, {"implementation", index}, {"plan", remote_plan(plan).number}});
      return times.get<std::vector<double>>();
    };
  }
}

// A function of a technique of a GPU: that of another process, or this one's where that cannot be.
template <class Function>
Function where_it_runs(Function there, Function here) {
  if (!there) return {};
  return [there = std::move(there), here = std::move(here)](auto&&... arguments) {
    return (gpus_not_isolated() ? here : there)(arguments...);
  };
}

void add_launching_on_gpu(Implementation& i, const File& file, std::size_t index,
                          const Json& described, const InProcess& in_process) {
  Implementation here = i;
  in_process.add_launching(here, index, described);
  add_launching(i, file, index, described, RemoteBind(file, index, here.bind));
  i.prepare = where_it_runs(i.prepare, here.prepare);
  i.choice = where_it_runs(i.choice, here.choice);
  i.named_plans = where_it_runs(i.named_plans, here.named_plans);
  i.unit_times = where_it_runs(i.unit_times, here.unit_times);
}

}  // namespace

void add_isolated_kernels(const std::string& name, const LoadedKernels& kernels) {
  const auto file = std::make_shared<KernelsFile>(name, kernels);
  Registry& registry = Registry::instance();
  const Json described = file->description();
  const InProcess in_process(name, kernels);
  registry.load_from(kernels.name());
  std::size_t index = 0;
  for (const Json& one : described.at("operations")) {
    Operation operation = wire::operation(one);
    add_functions(operation, file, index++, one);
    registry.add(std::move(operation));
  }
  index = 0;
  for (const Json& one : described.at("implementations")) {
    Implementation implementation = wire::implementation(one);
    add_facts(implementation.technique, file, index, one);
    if (implementation.backend == Backend::cpu) {
      add_launching(implementation, file, index, one, RemoteBind(file, index));
    } else if (kernels.is_python()) {
      throw UsageError(fmt::format(
          "--load {}: {}/{} is for a GPU, and kernels of a Python file run only on a host; "
          "allowed: kernels of a host, and for a GPU measure() in the script",
          name, implementation.technique.operation, implementation.technique.name));
    } else {
      add_launching_on_gpu(implementation, file, index, one, in_process);
    }
    ++index;
    registry.add(std::move(implementation));
  }
  registry.load_from("");
}

}  // namespace ridgebench
