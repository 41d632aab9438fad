// The ratio of the times of two techniques from repeated comparisons: pure functions on
// log ratios. roofline/ridgebench/judge/gate.py has the same trimmed mean for pairs of processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

// The ratio of the first technique's time to the second's.
enum class Verdict : std::uint8_t { faster, slower, same, undecided };
constexpr auto names_of(Verdict) {
  return enum_names("verdict", "faster", "slower", "same", "undecided");
}

// Largest change of time that still counts as the same: half a percent.
inline constexpr double kSameWithin = 0.005;
// Probability that two equal techniques are called faster or slower. A thousand duels of a
// technique against itself then give 0.1 false verdicts on average.
inline constexpr double kFalseVerdict = 1e-4;
// Fewest log ratios with an interval: of fewer, trimming leaves too little.
inline constexpr std::size_t kFewestRatios = 5;

// The mean without the lowest and the highest fifth, its standard error and the error's degrees of
// freedom. Source: Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61
// (1974), here for one sample of differences; the error is that of the winsorised values.
struct TrimmedMean {
  double location;
  double error;
  int freedom;
};

// Throws std::invalid_argument for fewer than kFewestRatios values and for one that is not finite.
TrimmedMean trimmed_mean(std::span<const double> values);

// The value that Student's t with `freedom` >= 1 degrees of freedom stays below with this
// probability, from 0.5 on. Source of the distribution function: Abramowitz and Stegun, Handbook of
// Mathematical Functions (1964), 26.7.3 and 26.7.4. Bisection inverts it.
double t_quantile(double probability, int freedom);

// True if an interval of log ratios lies within kSameWithin of 1.
bool is_same(double low, double high);

// How the interval of log ratios is formed.
enum class RatioRule : std::uint8_t {
  blocked,    // of quads: neighbours are averaged until they are uncorrelated
  processes,  // each log ratio is an observation
  version_1,  // of stored records: the same, and a certain difference comes before `same`
};

// The trimmed mean of blocks of neighbouring log ratios.
struct BlockedMean {
  TrimmedMean mean;         // with its error widened by what is left of the correlation
  TrimmedMean for_verdict;  // the same with a wider error, because a verdict may rarely be wrong
  std::size_t block = 1;    // log ratios in a block
  double widened = 1;       // by this factor
};

// Neighbouring log ratios share a clock, a power state and a temperature, so that an interval of
// independent ones is too narrow. The rule averages blocks of 1, 2, 4... neighbours and takes the
// shortest length from which on no length shows a lag-1 autocorrelation that is positive at the
// 5 % level (one-sided; source of the blocks: Flyvbjerg and Petersen, J. Chem. Phys. 91 (1989)
// 461). It looks at lengths that leave kFewestTestedBlocks, and takes the longest of them where all
// are correlated. The bias of the autocorrelation r of m values, -(1 + 4 r) / m, is taken out
// (Marriott and Pope, Biometrika 41 (1954) 390). What is left of r > 0 widens the error by
// sqrt((1 + r) / (1 - r)), as batch means with lag-1 correlation need it (Tafazzoli and Wilson,
// IIE Transactions 43 (2011) 110), and divides the number of blocks that count for the degrees of
// freedom by the same factor. Where a correlation was found, a verdict takes r three of its
// standard errors larger, with the degrees of freedom of the blocks. A negative autocorrelation
// narrows nothing. Fewer than kFewestTestedBlocks log ratios count as independent, because they
// cannot show a correlation. Throws as trimmed_mean does.
//
// Coverage of the 95 % interval in 3000 simulated duels of equal techniques, and how many verdicts
// named a faster technique. The log ratios are normal with lag-1 correlation r (AR(1)).
//     log ratios    16            32            64           100 to 400
//     r = 0         96 %, 0       96 %, 1       96 %, 0      96 %, 0 at each length
//     r = 0.5       93 %, 7       93 %, 10      94 %, 1      95 to 96 %, 1 in all four lengths
//     r = 0.9       86 %, 58      92 %, 12      94 %, 0      95 to 96 %, 0 at each length
//     r = 0.95      82 %, 94      90 %, 11      94 %, 1      94 to 96 %, 1 in all four lengths
// Slow changes that few log ratios show are not covered. Where a part of correlation 0.95 has half
// the deviation of the noise above it, the interval covers 73 to 88 % from 32 to 200 log ratios and
// 93 % at 400; of 3000 verdicts at 200, 42 are wrong. Two states of the machine that last for 40
// log ratios on average leave 81 % at 200 and 90 % at 400, and a ninth of the verdicts at 200 are
// wrong. Therefore split_by_clock() separates the states that the clock shows.
inline constexpr std::size_t kFewestTestedBlocks = 16;
BlockedMean blocked_mean(std::span<const double> log_ratios);

// The first technique's time over the second's.
struct Ratio {
  double value;
  double ci_low;  // 95 % interval
  double ci_high;
  Verdict verdict;
  std::int64_t block = 1;  // neighbouring log ratios that were averaged
  double widened = 1;      // see BlockedMean
};

// Estimates exp(mean log ratio). same: the 95 % interval lies within kSameWithin of 1. faster,
// slower: it does not, and the interval that a ratio of 1 misses with probability kFalseVerdict
// lies on one side of 1. By RatioRule::version_1, faster and slower come first. Empty for fewer
// than kFewestRatios.
std::optional<Ratio> estimate_ratio(std::span<const double> log_ratios,
                                    RatioRule rule = RatioRule::blocked);

// About how many times as many log ratios would give another verdict than undecided, if they lie
// and scatter as these do. Infinite where no number would. Throws as trimmed_mean does.
double effort_to_decide(std::span<const double> log_ratios, RatioRule rule = RatioRule::blocked);

}  // namespace ridgebench
