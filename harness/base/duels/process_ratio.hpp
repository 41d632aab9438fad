// The ratio of two techniques over a few processes of one device, whose processes hardly differ: a
// pure function on one log ratio per process.
//
// A verdict that is wrong once in 1e4 cannot come from the spread of three values: Student's t with
// two degrees of freedom would need a difference of 58 of their standard deviations. The rule
// therefore states how much processes may differ, and checks it as far as their number allows.
//
// - The 95 % interval is Student's, over the log ratios of the processes. It assumes nothing of how
//   much processes differ.
// - faster, slower: the mean lies further from 1 than two reaches. The first one takes as standard
//   deviation of a process kBetweenProcesses and the error within the processes together, and is
//   missed by equal techniques with probability kFalseVerdict. The second one is Student's at 99 %
//   over the processes, which sees that they differ by more.
//
// 300,000 duels of equal techniques were simulated in three processes, with an error of 0.05 %
// within a process. The columns are standard deviations from process to process:
//     deviation               0     0.1 %  0.2 %  0.25 %  0.5 %  1 %   3 %
//     intervals that hold 1   95 %  95 %   95 %   95 %    95 %   95 %  95 %
//     wrong verdicts in 3000  0     0      0      0.1     8      24    31
// If processes differ by more than kBetweenProcesses, a duel needs more of them and the rule
// RatioRule::processes, which hosts use.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "harness/base/ratio.hpp"

namespace ridgebench {

// Fewest processes with an interval.
inline constexpr std::size_t kFewestProcesses = 3;
// Standard deviation of the log ratio from process to process that no verdict is mistaken about:
// half of what still counts as the same, so that 95 of 100 processes lie within kSameWithin. How
// much the processes of a GPU differ has not been measured.
inline constexpr double kBetweenProcesses = kSameWithin / 2;

// `errors` are the standard errors of the log ratios within their processes. Empty for fewer than
// kFewestProcesses. Throws std::invalid_argument if the lengths differ or a value is not finite.
std::optional<Ratio> estimate_over_processes(std::span<const double> log_ratios,
                                             std::span<const double> errors);

// About how many times as many processes would give another verdict than undecided. Infinite where
// no number would. Throws as estimate_over_processes() does, and for fewer than kFewestProcesses.
double effort_over_processes(std::span<const double> log_ratios, std::span<const double> errors);

}  // namespace ridgebench
