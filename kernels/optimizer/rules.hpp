// A step of an optimizer on one parameter and its states, in fp32, for kernels of hosts
// and GPUs. The rates are computed in double and rounded once.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ridgebench::optimizer {

// Learning rates, betas, epsilon and weight decays. Sources: the defaults of torch.optim (PyTorch
// 2.9) for SGD, SGD with momentum 0.9, and AdamW; Chen et al., "Symbolic Discovery of Optimization
// Algorithms", arXiv 2302.06675, for the betas of Lion. They do not change how long a step takes.
inline constexpr double kSgdRate = 1e-3;
inline constexpr double kMomentum = 0.9;
inline constexpr double kLionRate = 1e-4;
inline constexpr double kLionBeta1 = 0.9;
inline constexpr double kLionBeta2 = 0.99;
inline constexpr double kAdamRate = 1e-3;
inline constexpr double kAdamBeta1 = 0.9;
inline constexpr double kAdamBeta2 = 0.999;
inline constexpr double kAdamEpsilon = 1e-8;
inline constexpr double kWeightDecay = 1e-2;  // of AdamW and Lion
// The step that is computed. The states are those of a long training.
inline constexpr double kStep = 1000;

// Formats of parameters and gradients: both in the case's format; the same with a master copy of
// the parameters in fp32; or gradients in the case's format, which is narrow, and parameters in
// fp32.
enum class Storage : std::uint8_t { same, master, narrow_gradients };

// Suffix of the operation's name.
constexpr std::string_view suffix(Storage storage) {
  if (storage == Storage::master) return "_master";
  return storage == Storage::narrow_gradients ? "_narrow_gradients" : "";
}

constexpr float rounded(double x) { return static_cast<float>(x); }

// Each rule is called with a parameter, its gradient and its states. It updates the states and
// returns the new parameter.

// p -= rate g
struct Sgd {
  static constexpr std::string_view kName = "sgd";
  static constexpr std::size_t kStates = 0;
  float rate = rounded(kSgdRate);

  [[gnu::always_inline]] constexpr float operator()(float p, float g,
                                                    std::array<float, kStates>& /*none*/) const {
    return p - rate * g;
  }
};

// b = momentum b + g, p -= rate b (the form of torch.optim.SGD)
struct Momentum {
  static constexpr std::string_view kName = "momentum";
  static constexpr std::size_t kStates = 1;
  float momentum = rounded(kMomentum);
  float rate = rounded(kSgdRate);

  [[gnu::always_inline]] constexpr float operator()(float p, float g,
                                                    std::array<float, kStates>& state) const {
    state[0] = momentum * state[0] + g;
    return p - rate * state[0];
  }
};

// p -= rate (sign(beta1 m + (1 - beta1) g) + decay p), then m = beta2 m + (1 - beta2) g
struct Lion {
  static constexpr std::string_view kName = "lion";
  static constexpr std::size_t kStates = 1;
  float kept = rounded(1 - kLionRate * kWeightDecay);
  float first = rounded(1 - kLionBeta1);
  float second = rounded(1 - kLionBeta2);
  float rate = rounded(kLionRate);

  [[gnu::always_inline]] constexpr float operator()(float p, float g,
                                                    std::array<float, kStates>& state) const {
    const float difference = g - state[0];
    const float direction = state[0] + first * difference;
    const float sign = (direction > 0 ? 1.0F : 0.0F) - (direction < 0 ? 1.0F : 0.0F);
    state[0] += second * difference;
    return p * kept - rate * sign;
  }
};

// m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2,
// p -= rate (m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + decay p)
struct AdamW {
  static constexpr std::string_view kName = "adamw";
  static constexpr std::size_t kStates = 2;
  float kept = rounded(1 - kAdamRate * kWeightDecay);
  float first = rounded(1 - kAdamBeta1);
  float second = rounded(1 - kAdamBeta2);
  float rate = rounded(kAdamRate / (1 - std::pow(kAdamBeta1, kStep)));
  float root = rounded(1 / std::sqrt(1 - std::pow(kAdamBeta2, kStep)));
  float epsilon = rounded(kAdamEpsilon);

  [[gnu::always_inline]] constexpr float operator()(float p, float g,
                                                    std::array<float, kStates>& state) const {
    state[0] += first * (g - state[0]);
    state[1] += second * (g * g - state[1]);
    return p * kept - rate * state[0] / (std::sqrt(state[1]) * root + epsilon);
  }
};

template <class Rule>
std::string operation_name(Storage storage) {
  return std::string(Rule::kName).append(suffix(storage));
}

}  // namespace ridgebench::optimizer
