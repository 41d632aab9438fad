// The rules and formats that every technique of the optimizers serves, and the arrays of a launch.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "kernels/common/registry.hpp"
#include "kernels/optimizer/rules.hpp"

namespace ridgebench::optimizer {

// A rule for parameters of P with gradients of G. With a master copy in fp32, p is written only.
template <class R, class Gradient, class Parameter, Storage storage>
struct Update {
  using Rule = R;
  using G = Gradient;
  using P = Parameter;
  static constexpr bool kMaster = storage == Storage::master;
  static constexpr std::size_t kStates = R::kStates;
  static constexpr std::size_t kArrays = kStates + (kMaster ? 1 : 0);  // in fp32, updated in place
  static constexpr std::size_t kMasterArray = kStates;

  static std::string operation() { return operation_name<R>(storage); }
};

template <class Rule>
using UpdatesBy =
    Types<Update<Rule, float, float, Storage::same>, Update<Rule, Fp16, Fp16, Storage::same>,
          Update<Rule, Bf16, Bf16, Storage::same>, Update<Rule, Fp16, Fp16, Storage::master>,
          Update<Rule, Bf16, Bf16, Storage::master>,
          Update<Rule, Fp16, float, Storage::narrow_gradients>,
          Update<Rule, Bf16, float, Storage::narrow_gradients>>;
using Updates =
    decltype(UpdatesBy<Sgd>{} + UpdatesBy<Momentum>{} + UpdatesBy<Lion>{} + UpdatesBy<AdamW>{});

// The pointers of a launch, but for the gradient's.
template <class U>
struct Arrays {
  const typename U::G* g;
  std::array<float*, U::kArrays> state;  // the states, then the master
  typename U::P* p;
};

template <std::size_t>
using StatePointer = float*;

// Returns a function of a Queue, of what a plan holds, if there is one, of a Shape and of the
// pointers in the order of the operands. It calls Start::launch<U>(queue, plan..., shape, arrays).
template <class Start, class U, class... State, std::size_t... I>
auto bind_arrays(std::index_sequence<I...> /*states*/) {
  return +[](Queue& queue, const State&... plan, const Shape& shape, const typename U::G* g,
             StatePointer<I>... state, typename U::P* p) -> Launch {
    return Start::template launch<U>(queue, plan..., shape, Arrays<U>{g, {state...}, p});
  };
}

template <class Start, class U, class... State>
auto bind_for() {
  return bind_arrays<Start, U, State...>(std::make_index_sequence<U::kArrays>());
}

template <class U>
Technique technique(const char* name) {
  return {.operation = U::operation(),
          .name = name,
          .engine = Engine::memory,
          .arithmetic = Format::fp32};
}

}  // namespace ridgebench::optimizer
