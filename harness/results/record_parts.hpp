// The objects inside a record, and the lists of their keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/key.hpp"

namespace ridgebench {

// The measured ceilings that a row was judged by.
struct RecordedRoof {
  std::optional<double> flops_per_s = std::nullopt;
  std::optional<double> bytes_per_s = std::nullopt;
  std::optional<std::string> compute_ceiling = std::nullopt;
  std::optional<std::string> memory_ceiling = std::nullopt;
  std::optional<double> special_results = std::nullopt;
  std::optional<double> special_results_per_s = std::nullopt;
  std::optional<std::string> special_ceiling = std::nullopt;

  // The least time that they take.
  [[nodiscard]] std::optional<double> special_s() const;
};

// The second measurement of a row that was more than 10 % faster than a ceiling (suspect.hpp).
struct SecondLook {
  std::vector<double> times_s = {};
  std::optional<double> bytes_per_s = std::nullopt;
  std::optional<double> flops_per_s = std::nullopt;
};

// The comparison of all elements of an output with another technique's, where the output is too
// large for the reference.
struct Witness {
  std::string technique;
  double error = 0;
};

// Launches on inputs that the kernel had not met, between the samples.
struct Probed {
  std::int64_t compared = 0;
  std::vector<double> new_inputs_s = {};
  std::vector<double> old_inputs_s = {};
};

struct Verification {
  double error = 0;
  double tolerance = 0;
  std::int64_t elements = 0;
  bool exact = true;
  std::optional<std::int64_t> group = std::nullopt;
  std::optional<Witness> witness = std::nullopt;
  std::optional<std::uint64_t> seed = std::nullopt;
  std::optional<Probed> probes = std::nullopt;

  [[nodiscard]] bool passed() const { return error <= 1; }
};

// clang-format off
inline constexpr KeyList kRoofKeys{
    Key{"flops_per_s", &RecordedRoof::flops_per_s, "FLOP/s", "of the arithmetic; null without its ceiling", kPositive},
    Key{"bytes_per_s", &RecordedRoof::bytes_per_s, "byte/s", "of the memory; null without its ceiling", kPositive},
    Key{"compute_ceiling", &RecordedRoof::compute_ceiling, "", "id of the ceiling's row"},
    Key{"memory_ceiling", &RecordedRoof::memory_ceiling, "", "id of the ceiling's row"},
    Key{"special_results", &RecordedRoof::special_results, "", "special functions per launch, or conversions where they take longer; null without their ceiling", kPositive, Absence::not_in_oldest},
    Key{"special_results_per_s", &RecordedRoof::special_results_per_s, "1/s", "rate of that ceiling", kPositive, Absence::not_in_oldest},
    Key{"special_ceiling", &RecordedRoof::special_ceiling, "", "id of the ceiling's row", {}, Absence::not_in_oldest},
};

inline constexpr KeyList kSecondLookKeys{
    Key{"times_s", &SecondLook::times_s, "s", "median of the row in each turn with its ceilings, per launch; empty if a second look at an earlier row had found the ceilings faster", kPositive},
    Key{"bytes_per_s", &SecondLook::bytes_per_s, "byte/s", "best of the memory's ceiling, in the turns and before; null if the row did not exceed it", kPositive},
    Key{"flops_per_s", &SecondLook::flops_per_s, "FLOP/s", "best of the arithmetic's ceiling, likewise", kPositive},
};

inline constexpr KeyList kWitnessKeys{
    Key{"technique", &Witness::technique, "", "the other technique"},
    Key{"error", &Witness::error, "", "largest difference over the tolerance of both, at most 1 for an ok row; null: infinite", kNotNegative, Absence::infinite},
};

inline constexpr KeyList kProbedKeys{
    Key{"compared", &Probed::compared, "", "number of probes whose outputs were compared with the reference", kCount},
    Key{"new_inputs_s", &Probed::new_inputs_s, "s", "time of a launch in each probe whose inputs were all new", kPositive},
    Key{"old_inputs_s", &Probed::old_inputs_s, "s", "time of a launch each time after the old inputs were written once more; empty if the probes before left no doubt", kPositive},
};

inline constexpr KeyList kVerificationKeys{
    Key{"error", &Verification::error, "", "largest deviation from the reference over its tolerance, at most 1 for an ok row; null: infinite", kNotNegative, Absence::infinite},
    Key{"tolerance", &Verification::tolerance, "", "absolute, at the element with that error", kNotNegative},
    Key{"elements", &Verification::elements, "", "number of elements compared with the reference", kCount},
    Key{"exact", &Verification::exact, "", "every one of them is the reference rounded to the output's format"},
    Key{"group", &Verification::group, "", "number of neighbouring elements in each of the signed sums by which all elements of a large product were compared; null without such sums", kCount, Absence::not_in_oldest},
    Key{"witness", &Verification::witness, "", "the technique that all elements of a large output were compared with", {}, Absence::not_in_oldest},
    Key{"seed", &Verification::seed, "", "of the choice of rows and signs, drawn anew in each process; `RIDGEBENCH_CHECK_SEED` sets it", kCount, Absence::not_in_oldest},
    Key{"probes", &Verification::probes, "", "launches on inputs that the kernel had not met, between the samples; null without any", {}, Absence::not_in_oldest},
};
// clang-format on

constexpr const auto& keys_of(const RecordedRoof*) { return kRoofKeys; }
constexpr const auto& keys_of(const SecondLook*) { return kSecondLookKeys; }
constexpr const auto& keys_of(const Witness*) { return kWitnessKeys; }
constexpr const auto& keys_of(const Probed*) { return kProbedKeys; }
constexpr const auto& keys_of(const Verification*) { return kVerificationKeys; }

}  // namespace ridgebench
