// Seeded noise with known properties, for the tests of the statistics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace ridgebench {

using Samples = std::vector<double>;
using Random = std::mt19937_64;
using Generator = std::function<Samples(std::size_t count, Random& random)>;

inline double normal(Random& random) { return std::normal_distribution<double>()(random); }

// Returns `count` values 1 + noise of an autoregressive process. With correlation 0 they are
// independent.
inline Samples normal_samples(std::size_t count, Random& random, double deviation,
                              double correlation = 0) {
  Samples samples;
  double state = normal(random);
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back(1 + deviation * state);
    state = correlation * state + std::sqrt(1 - correlation * correlation) * normal(random);
  }
  return samples;
}

inline Samples lognormal_samples(std::size_t count, Random& random, double sigma) {
  Samples samples(count);
  std::ranges::generate(samples, [&] { return std::exp(sigma * normal(random)); });
  return samples;
}

inline Samples rounded_to(double tick, Samples samples) {
  for (double& value : samples) {
    value = std::round(value / tick) * tick;
  }
  return samples;
}

// Adds a straight line from 0 to `rise` to the samples.
inline Samples with_drift(double rise, Samples samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] += rise * static_cast<double>(i) / static_cast<double>(samples.size() - 1);
  }
  return samples;
}

// Moves each sample up by `distance` with the given probability.
inline Samples with_second_mode(double distance, double probability, Samples samples,
                                Random& random) {
  std::bernoulli_distribution upper(probability);
  for (double& value : samples) {
    value += upper(random) ? distance : 0;
  }
  return samples;
}

inline Samples scaled(double factor, Samples samples) {
  for (double& value : samples) {
    value *= factor;
  }
  return samples;
}

struct NamedGenerator {
  std::string name;
  Generator generate;
};

// Generates independent samples with median 1.
inline std::vector<NamedGenerator> independent_noise() {
  const auto lognormal = [](double sigma) -> Generator {
    return [=](auto n, auto& random) { return lognormal_samples(n, random, sigma); };
  };
  const Generator gaussian = [](auto n, auto& random) { return normal_samples(n, random, 0.05); };
  return {{.name = "normal", .generate = gaussian},
          {.name = "lognormal", .generate = lognormal(0.5)},
          {.name = "heavy-tailed lognormal", .generate = lognormal(1.0)}};
}

// Returns the share of seeded trials in which `property` holds for `count` generated samples.
inline double share(const Generator& generate, std::size_t count, int trials,
                    const std::function<bool(const Samples&)>& property) {
  Random random(20240611 + count);
  int hits = 0;
  for (int trial = 0; trial < trials; ++trial) {
    hits += property(generate(count, random)) ? 1 : 0;
  }
  return static_cast<double>(hits) / trials;
}

}  // namespace ridgebench
