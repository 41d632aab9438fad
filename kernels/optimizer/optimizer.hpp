// A step of an optimizer on n parameters, in place: sgd, momentum, lion and adamw. Parameters and
// gradients have the case's format. An operation that ends with _master also keeps a master copy of
// the parameters in fp32 and writes those in 16 bits. In one that ends with _narrow_gradients, the
// gradients have 16 bits and the parameters are in fp32. States are in fp32.
//
// FLOPs of a parameter as the papers write the rules, a square root, a division and a sign counted
// as 1 (rules.hpp has the formulas and their sources):
//   sgd       2   rate g, and a difference
//   momentum  4   2 for the momentum, 2 for the parameter
//   lion     11   3 for the direction, 1 sign, 4 for the parameter with its decay, 3 for m
//   adamw    16   3 for m, 4 for v, 2 corrections, a root, epsilon, a quotient, 4 for the parameter
//                 with its decay
//
// Bytes: the gradient read, every state and the parameter (or its master) read and written, and the
// 16-bit copy of a master written. The tolerance follows from the norm of the terms of each output.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "kernels/common/elementwise.hpp"
#include "kernels/common/norm.hpp"
#include "kernels/common/training_formats.hpp"
#include "kernels/optimizer/rules.hpp"

namespace ridgebench {

namespace optimizer {

// The states, then the parameter.
template <std::size_t kStates>
using Updated = std::array<Expected, kStates + 1>;

inline Updated<0> sgd_reference(double p, double g, const std::array<double, 0>& /*none*/) {
  const double step = kSgdRate * g;
  return {{{p - step, norm_of(p, step)}}};
}

inline Updated<1> momentum_reference(double p, double g, const std::array<double, 1>& state) {
  const Expected b{kMomentum * state[0] + g, norm_of(kMomentum * state[0], g)};
  return {{b, {p - kSgdRate * b.value, norm_of(p, kSgdRate * b.norm)}}};
}

inline Updated<1> lion_reference(double p, double g, const std::array<double, 1>& state) {
  const double old = kLionBeta1 * state[0];
  const double fresh = (1 - kLionBeta1) * g;
  const double sum = old + fresh;
  const double sign = (sum > 0 ? 1.0 : 0.0) - (sum < 0 ? 1.0 : 0.0);
  // Where the terms cancel within fp32's rounding, a right kernel may find the other sign.
  constexpr double kRoundoff = 0x1p-24;
  const bool open = std::abs(sum) < 8 * kRoundoff * (std::abs(state[0]) + std::abs(fresh));
  const double either = open ? 2 * kLionRate / kRoundoff : 0;
  const double m = kLionBeta2 * state[0] + (1 - kLionBeta2) * g;
  return {{{m, norm_of(kLionBeta2 * state[0], (1 - kLionBeta2) * g)},
           {p - kLionRate * (sign + kWeightDecay * p), norm_of(p, kLionRate) + either}}};
}

inline Updated<2> adamw_reference(double p, double g, const std::array<double, 2>& state) {
  const double old = kAdamBeta1 * state[0];
  const double fresh = (1 - kAdamBeta1) * g;
  const Expected m{old + fresh, norm_of(old, fresh)};
  const double v = kAdamBeta2 * state[1] + (1 - kAdamBeta2) * g * g;
  const double root = std::sqrt(v / (1 - std::pow(kAdamBeta2, kStep))) + kAdamEpsilon;
  const double correction = 1 - std::pow(kAdamBeta1, kStep);
  const double value = p - kAdamRate * (m.value / correction / root + kWeightDecay * p);
  return {{m, {v, v}, {value, norm_of(p, kAdamRate * m.norm / correction / root)}}};
}

// A step on parameters of layers with about 600 inputs, whose variance is 2 / inputs (He et al.,
// arXiv 1502.01852).
inline constexpr Values kParameters = uniform(-0.1, 0.1);

template <std::size_t kStates>
struct Kind {
  double flops;
  Updated<kStates> (*reference)(double p, double g, const std::array<double, kStates>& state);
  std::array<PointwiseOperand, kStates> states;
  double roots = 0;  // square roots of a parameter
};

// The block of values from those of the gradient, the states and the parameter or its master. A
// 16-bit copy is one more output.
template <std::size_t kStates, Storage storage>
PointwiseBlock block_of(const Kind<kStates>& kind) {
  constexpr std::size_t kOutputs = kStates + (storage == Storage::master ? 2 : 1);
  return each_element<kStates + 2, kOutputs>(
      [reference = kind.reference](const std::array<double, kStates + 2>& in) {
        std::array<double, kStates> state{};
        for (std::size_t j = 0; j < kStates; ++j) state[j] = in[1 + j];
        const Updated<kStates> updated = reference(in.back(), in.front(), state);
        std::array<Expected, kOutputs> out;
        std::copy(updated.begin(), updated.end(), out.begin());
        out.back() = updated.back();
        return out;
      });
}

template <class Rule, Storage storage>
Operation operation(const Kind<Rule::kStates>& kind) {
  constexpr bool kSame = storage == Storage::same;
  std::vector<PointwiseOperand> operands{{"g"}};
  operands.insert(operands.end(), kind.states.begin(), kind.states.end());
  if (storage == Storage::master) {
    operands.push_back({"master", Access::updated, always_fp32, kParameters});
    operands.push_back({"p", Access::written});
  } else {
    operands.push_back({"p", Access::updated, kSame ? first_format : always_fp32, kParameters});
  }
  return pointwise(
      {.name = operation_name<Rule>(storage),
       .formats = kSame ? kTrainingFormats : std::vector<FormatPair>{Format::fp16, Format::bf16},
       .flops_per_element = kind.flops,
       .operands = std::move(operands),
       .block = block_of<Rule::kStates, storage>(kind),
       .terms = 3,
       .special_per_element = kind.roots,
       .of_step = true});
}

inline PointwiseOperand state(const char* name, Values values) {
  return {name, Access::updated, always_fp32, values};
}

// Each state has the standard deviation that it takes for gradients of variance 1: with beta as
// AdamW's 0.9, sqrt((1 - beta) / (1 + beta)); the momentum, 1 / sqrt(1 - momentum^2). v has the
// mean 1 and is not negative.
inline const Kind<0> kSgdKind{2, sgd_reference, {}};
inline const Kind<1> kMomentumKind{4, momentum_reference, {state("b", uniform(-4, 4))}};
inline const Kind<1> kLionKind{11, lion_reference, {state("m", uniform(-0.12, 0.12))}};
inline const Kind<2> kAdamWKind{
    16, adamw_reference, {state("m", uniform(-0.4, 0.4)), state("v", uniform(0, 2))}, 1};

// The operation with each storage.
template <class Rule>
struct Registered {
  explicit Registered(const Kind<Rule::kStates>& kind)
      : same(operation<Rule, Storage::same>(kind)),
        master(operation<Rule, Storage::master>(kind)),
        narrow_gradients(operation<Rule, Storage::narrow_gradients>(kind)) {}
  RegisterOperation same, master, narrow_gradients;
};

}  // namespace optimizer

inline const optimizer::Registered<optimizer::Sgd> sgd(optimizer::kSgdKind);
inline const optimizer::Registered<optimizer::Momentum> momentum(optimizer::kMomentumKind);
inline const optimizer::Registered<optimizer::Lion> lion(optimizer::kLionKind);
inline const optimizer::Registered<optimizer::AdamW> adamw(optimizer::kAdamWKind);

}  // namespace ridgebench
