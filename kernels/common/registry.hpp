// The list of operations and of the techniques that implement them. Linking an object file adds
// what it registers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/isa_level.hpp"
#include "kernels/common/operation.hpp"
#include "kernels/common/queue.hpp"

namespace ridgebench {

enum class Backend : std::uint8_t { cpu, cuda };
constexpr auto names_of(Backend) { return enum_names("backend", "cpu", "cuda"); }
// A record that was imported from another tool is external; a technique never is.
enum class Origin : std::uint8_t { hand, library, external };
constexpr auto names_of(Origin) { return enum_names("origin", "hand", "library", "external"); }

// Why a technique cannot serve a shape on a machine; empty if it can. Pure arithmetic: it
// launches, allocates and tunes nothing, because `list` and `--dry-run` call it for every case.
using Supports =
    std::function<std::optional<std::string>(const Machine&, const Shape&, FormatPair)>;

// Declaration of a technique in its one registration.
struct Technique {
  std::string operation;
  std::string name;
  Engine engine;
  // Format of the products, to which the kernel widens the storage format. Default: the case's
  // format.
  std::optional<Format> arithmetic = std::nullopt;
  Format accumulator = Format::fp32;
  Origin origin = Origin::hand;
  Pace pace = Pace::fast;
  Isa isa = Isa::none;
  // Empty: every shape on every machine of the backend.
  Supports supports = nullptr;
  // Fraction bits that the running sum keeps; 0: all of the accumulator format's.
  int accumulator_bits = 0;
  // Largest error of a sum that keeps fewer bits than its format, relative to the norm of the
  // reference. The constant's comment names its source.
  double accumulation_error = 0;
  // Largest error of an approximate function (exp, tanh, a product of split operands), relative to
  // the norm of the reference.
  double approximation_error = 0;
  // A launch is so short that power and clock do not settle: its rate is not a roof.
  bool burst = false;
  // For a ceiling: true if its instructions reach the engine's full rate on a machine; null: on
  // every one. Where they do not, its rate is not a roof.
  bool (*full_rate)(const Machine&) = nullptr;
  // Bytes that prepare and bind allocate on a host for a shape, to which the harness adds the
  // operands; null: few. A library does not say how many it takes.
  double (*workspace_bytes)(const Machine&, const Shape&) = nullptr;
  // The order of its additions, and so the last bits, may differ from run to run.
  bool order_dependent = false;
  // It serves shapes with optional dimensions of its operation, which `supports` may still refuse.
  bool optional_dimensions = false;
  // Filled in by the registry: name of the file that `--load` took the technique from; empty for
  // those of the program.
  std::string loaded_from = {};
};

// Format and constness of one pointer parameter of bind.
struct Parameter {
  Format format;
  bool is_const;
  friend constexpr bool operator==(Parameter, Parameter) = default;
};

inline constexpr std::size_t kMaxOperands = 16;

struct Signature {
  std::array<Parameter, kMaxOperands> parameters{};
  std::size_t count = 0;
};

using Plan = std::shared_ptr<void>;
using Prepare = std::function<Plan(Queue&, const Shape&)>;
// The choice of prepare as text; empty if the technique has none.
using Choice = std::function<std::string(const Plan&)>;
// A plan under the name by which a user asks for it: "tile=128x192,cluster=2".
struct NamedPlan {
  std::string name;
  Plan plan;
};
// Every plan that prepare chooses from, whatever the shape.
using NamedPlans = std::function<std::vector<NamedPlan>()>;
// Seconds that each unit of the machine took for the same work, the mean of all launches, at the
// unit's number; NaN if none is known.
using UnitTimes = std::function<std::vector<double>(const Plan&)>;
// Bytes of a launch by a technique's model of its tiles: what the L2 cache delivers to the
// multiprocessors, and what main memory delivers or takes at least.
struct ModelTraffic {
  double l2_to_sm_bytes;
  double dram_bytes;
};
using TrafficOf =
    std::function<ModelTraffic(const Plan&, const Machine&, const Shape&, FormatPair)>;
using Bind = std::function<Launch(Queue&, const Plan&, const Shape&, std::span<void* const>)>;

// A technique in one format on one backend.
struct Implementation {
  Technique technique;
  Backend backend;
  Signature signature;
  Prepare prepare;  // empty: nothing to prepare
  Choice choice;
  NamedPlans named_plans;  // empty: nobody may choose in place of prepare
  UnitTimes unit_times;    // empty: it does not distinguish them
  TrafficOf traffic;       // empty: it has no model
  Bind bind;
  // Seconds of a launch without work, where the way to a kernel takes longer than the device's.
  double launch_floor_s = 0;
  // File that registers it, as its compiler names it; null for a kernel of a program that uses the
  // C interface.
  const char* source = nullptr;
  // Filled in by Registry::resolve.
  const Operation* operation = nullptr;
  FormatPair format{};
  bool lacks_isa = false;   // the technique's instruction set is newer than the processor's
  bool calls_back = false;  // its launches call the program that uses the C interface

  // True if a user wrote it, and nothing is known of its honesty.
  [[nodiscard]] bool of_user() const { return calls_back || !technique.loaded_from.empty(); }

  // Why this cannot serve the shape on the machine; empty if it can. Launches nothing.
  [[nodiscard]] std::optional<std::string> unsupported(const Machine& machine,
                                                       const Shape& shape) const;

  // Bytes of the technique's workspace; 0 if the processor cannot run the code that counts them.
  [[nodiscard]] double workspace_bytes(const Machine& machine, const Shape& shape) const {
    const auto of_shape = lacks_isa ? nullptr : technique.workspace_bytes;
    return of_shape == nullptr ? 0 : of_shape(machine, shape);
  }

  [[nodiscard]] FormatPair arithmetic() const {
    return technique.arithmetic ? FormatPair(*technique.arithmetic) : format;
  }
};

class Registry {
 public:
  static Registry& instance();

  void add(Operation operation);
  void add(Implementation implementation);

  // Entries from now on belong to a file that is loaded; empty: to the program.
  void load_from(std::string file) { loading_ = std::move(file); }

  // Matches every technique with its operation and format by the types of its pointers. Of the
  // instruction sets of a technique it keeps the newest up to `newest`; a technique for newer
  // processors only stays and is unsupported. Throws an error that names what matches nothing, is
  // registered twice or makes no sense: UsageError for what was loaded, else std::logic_error.
  void resolve(Isa newest = host_isa());

  // Takes the operations with these names out again, and what implements them.
  void remove(std::span<const std::string> operations);

  [[nodiscard]] const std::vector<std::unique_ptr<Operation>>& operations() const;
  [[nodiscard]] const std::vector<std::unique_ptr<Implementation>>& implementations() const;
  // Throws UsageError that lists the operations, not the ceilings.
  [[nodiscard]] const Operation& operation(std::string_view name) const;

 private:
  void sort_operations();

  std::vector<std::unique_ptr<Operation>> operations_;  // sorted by name once resolved
  std::vector<std::unique_ptr<Implementation>> implementations_;
  std::string loading_;
};

// Adds an operation at start-up: `const RegisterOperation relu{{.name = "relu", ...}};`
struct RegisterOperation {
  explicit RegisterOperation(Operation operation);
};

namespace registry_detail {

template <class Pointer>
constexpr Parameter parameter() {
  using Pointee = std::remove_pointer_t<Pointer>;
  return {FormatOf<std::remove_const_t<Pointee>>::value, std::is_const_v<Pointee>};
}

template <class... Pointers>
constexpr Signature signature() {
  static_assert(sizeof...(Pointers) <= kMaxOperands);
  return {{parameter<Pointers>()...}, sizeof...(Pointers)};
}

// Parameter types of a function or a lambda.
template <class F>
using FunctionOf = std::type_identity<decltype(std::function(std::declval<F>()))>;

template <class... Pointers, std::size_t... I>
auto call(auto&& bind, std::span<void* const> operands, std::index_sequence<I...>) {
  return bind(static_cast<Pointers>(operands[I])...);
}

template <class Prepare, class Bind, class States = std::nullptr_t>
struct Planned {
  Prepare prepare;
  Bind bind;
  States states = nullptr;
};

template <class F, class Result, class... Pointers>
Implementation erase(
    F bind, std::type_identity<std::function<Result(Queue&, const Shape&, Pointers...)>> /*type*/) {
  Implementation result{};
  result.signature = signature<Pointers...>();
  result.bind = [bind](Queue& queue, const Plan&, const Shape& shape,
                       std::span<void* const> operands) -> Launch {
    return call<Pointers...>([&](auto... typed) { return bind(queue, shape, typed...); }, operands,
                             std::index_sequence_for<Pointers...>());
  };
  return result;
}

template <class Prepare, class Bind, class States, class Result, class State, class... Pointers>
Implementation erase(
    Planned<Prepare, Bind, States> planned,
    std::type_identity<
        std::function<Result(Queue&, const State&, const Shape&, Pointers...)>> /*type*/) {
  Implementation result{};
  result.signature = signature<Pointers...>();
  result.prepare = [prepare = planned.prepare](Queue& queue, const Shape& shape) -> Plan {
    return std::make_shared<State>(prepare(queue, shape));
  };
  if constexpr (requires(const State& state) { std::string(state.choice()); }) {
    result.choice = [](const Plan& plan) { return static_cast<State*>(plan.get())->choice(); };
  }
  if constexpr (!std::is_null_pointer_v<States>) {
    result.named_plans = [states = planned.states] {
      std::vector<NamedPlan> plans;
      for (const State& state : states()) {
        plans.push_back({state.name(), std::make_shared<State>(state)});
      }
      return plans;
    };
  }
  if constexpr (requires(const State& state) { std::vector<double>(state.unit_times()); }) {
    result.unit_times = [](const Plan& plan) {
      return static_cast<State*>(plan.get())->unit_times();
    };
  }
  if constexpr (requires(const State& state, const Machine& machine, const Shape& shape) {
                  ModelTraffic(state.traffic(machine, shape, FormatPair()));
                }) {
    result.traffic = [](const Plan& plan, const Machine& machine, const Shape& shape,
                        FormatPair formats) {
      return static_cast<const State*>(plan.get())->traffic(machine, shape, formats);
    };
  }
  result.bind = [bind = planned.bind](Queue& queue, const Plan& plan, const Shape& shape,
                                      std::span<void* const> operands) -> Launch {
    const State& state = *static_cast<const State*>(plan.get());
    return call<Pointers...>([&](auto... typed) { return bind(queue, state, shape, typed...); },
                             operands, std::index_sequence_for<Pointers...>());
  };
  return result;
}

template <class Bind>
Implementation erase(Bind bind) {
  return erase(bind, FunctionOf<Bind>{});
}

template <class Prepare, class Bind, class States>
Implementation erase(Planned<Prepare, Bind, States> planned) {
  return erase(planned, FunctionOf<Bind>{});
}

void add(const Technique& technique, Backend backend, Implementation implementation,
         const char* source);

}  // namespace registry_detail

// For a technique with a slow preparation, State prepare(Queue&, const Shape&), which runs once per
// shape; bind(Queue&, const State&, const Shape&, pointers...) gets what it returned. Where State
// has a member `std::string choice() const`, the record says what was chosen; where it has
// `std::vector<double> unit_times() const`, the record has these times; where it has
// `ModelTraffic traffic(const Machine&, const Shape&, FormatPair) const`, these bytes.
template <class Prepare, class Bind>
auto planned(Prepare prepare, Bind bind) {
  return registry_detail::Planned<Prepare, Bind>{prepare, bind};
}
// A user may also name one of states(), a range of State, by its member `std::string name() const`.
template <class Prepare, class Bind, class States>
auto planned(Prepare prepare, Bind bind, States states) {
  return registry_detail::Planned<Prepare, Bind, States>{prepare, bind, states};
}

// A list of the types that a technique serves.
template <class... T>
struct Types {};

template <class... T, class... U>
constexpr Types<T..., U...> operator+(Types<T...> /*first*/, Types<U...> /*second*/) {
  return {};
}

// Types of the inputs of a product (matvec, matmul) and of its output, which product_format gives.
template <class InputA, class InputB = InputA>
struct ProductTypes {
  using A = InputA;
  using B = InputB;
  using Out = std::conditional_t<sizeof(InputA) == 1, Bf16, InputA>;
  static constexpr FormatPair formats{FormatOf<A>::value, FormatOf<B>::value};
  static_assert(FormatOf<Out>::value == product_format(formats));
};

using HalfTypes = Types<Fp16, Bf16>;
// Formats that training uses.
using TrainingTypes = Types<float, Fp16, Bf16>;
using Fp8Types = Types<Fp8E4m3, Fp8E5m2>;
// Formats of relu, gelu, dot and matvec.
using ElementTypes = Types<float, Fp16, Bf16, Fp8E4m3, Fp8E5m2>;

using Fp32Products = Types<ProductTypes<float>>;
using Tf32Products = Types<ProductTypes<Tf32>>;
using HalfProducts = Types<ProductTypes<Fp16>, ProductTypes<Bf16>>;
using Fp8Products = Types<ProductTypes<Fp8E4m3>, ProductTypes<Fp8E5m2>,
                          ProductTypes<Fp8E4m3, Fp8E5m2>, ProductTypes<Fp8E5m2, Fp8E4m3>>;
using AllProducts = decltype(Fp32Products{} + Tf32Products{} + HalfProducts{} + Fp8Products{});

// Adds a technique at start-up, once per type that it serves. The pointer types of bind give the
// format. bind is a function or a lambda, which may capture. The file that calls the constructor
// is the technique's source; a function that registers for others passes theirs.
//   const Registration vec16{{...}, ElementTypes{}, []<class T>() { return bind<T>; }};
template <Backend B>
class BackendRegistration {
 public:
  // bind_for.operator()<T>() returns what serves T: a bind, or planned(prepare, bind).
  template <class... T, class BindFor>
  BackendRegistration(const Technique& technique, Types<T...> /*types*/, BindFor bind_for,
                      const char* source = __builtin_FILE()) {
    (registry_detail::add(technique, B, registry_detail::erase(bind_for.template operator()<T>()),
                          source),
     ...);
  }
  // The same where the technique depends on the type, as its errors do.
  template <class TechniqueFor, class... T, class BindFor>
  BackendRegistration(TechniqueFor technique_for, Types<T...> /*types*/, BindFor bind_for,
                      const char* source = __builtin_FILE()) {
    (registry_detail::add(technique_for.template operator()<T>(), B,
                          registry_detail::erase(bind_for.template operator()<T>()), source),
     ...);
  }
  // For a single type: a bind, or planned(prepare, bind).
  template <class Bind>
  BackendRegistration(const Technique& technique, Bind bind,
                      const char* source = __builtin_FILE()) {
    registry_detail::add(technique, B, registry_detail::erase(bind), source);
  }
};

// For a .cpp that calls a CUDA library.
using CudaRegistration = BackendRegistration<Backend::cuda>;
// The extension of the file is the backend: nvcc compiles .cu files, or the tests run them on a
// host (tests/emulator).
#if defined(__CUDACC__) || defined(RIDGEBENCH_EMULATED_CUDA)
using Registration = CudaRegistration;
#else
using Registration = BackendRegistration<Backend::cpu>;
#endif

}  // namespace ridgebench
