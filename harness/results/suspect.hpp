// A rate above what is possible is not believed: how far a row is above the ceilings of its roof.
#pragma once

#include "harness/results/record.hpp"

namespace ridgebench {

// A row that is faster than a ceiling by more than this share is measured again, and not believed
// unless that explains it. Two rows of a published host (2026-11-23-d549ba8) were 10 and 14 % above
// a ceiling that had been measured once.
inline constexpr double kSuspectMargin = 0.10;
// The same after the second look, on a host. Other processes share its processors, and a launch of
// 10 ms loses more to them than one of 0.4 ms: a right kernel was 48 % above a ceiling that a busy
// host measured in the same turns.
inline constexpr double kSuspectMarginOfHost = 1.0;
// The margin of a row after the second look.
double suspect_margin(const Record& record);
// The flag of a kernel whose roof is not known: a rate above what is possible would not show.
inline constexpr const char* kUnbounded = "unbounded";

// The rates of a row over those of the ceilings of its roof; 0 if nothing limits the row:
// without the ceiling, in another regime than steady, and for the memory where caches may serve the
// row.
struct OverRoof {
  double memory = 0;
  double compute = 0;
  // True if one of them is above 1 by more than `margin`.
  [[nodiscard]] bool exceeds(double margin) const;
};

// `time_s` is that of a launch, in seconds.
OverRoof over_ceilings(const Record& record, double time_s);
// The same, with each ceiling at the best that a second look at the row found.
OverRoof over_best_ceilings(const Record& record, double time_s);

// True if a row that passed verification has to be looked at again.
bool too_fast(const Record& record);
// True if a row with this time is above the best of a ceiling by more than the margin of its
// device. The FLOPs of GeLU are a convention, so that no ceiling of arithmetic limits them.
bool impossible(const Record& record, double time_s);

// A launch on new inputs that takes longer than this times the median sample looks as if the
// samples had done less work, if this many probes agree.
inline constexpr double kSlowerOnNewInputs = 1.25;
// The same for a rotation that moves less than kLearnedBytes. A processor learns the branches that
// its inputs take: on a shared host, an honest ReLU of 70001 elements and one buffer set once took
// 1.58 times as long on new ones. A mispredicted branch costs some times as much as an element.
inline constexpr double kSlowerIfLearned = 4;
inline constexpr double kLearnedBytes = 0x1p23;
inline constexpr std::size_t kFewestFreshProbes = 3;
inline constexpr std::size_t kMoreFreshProbes = 8;
inline constexpr std::size_t kLaunchesOnOldInputs = kFewestFreshProbes + kMoreFreshProbes;

// The factor for a launch that moves these bytes on each of some buffer sets.
double slower_factor(double bytes, std::int64_t sets);

// True if every probe so far looks so.
bool all_slower(const Probed& probed, double median_s, double factor);
// True if that may still make the row suspect: once two launches on the old inputs take nearly as
// long, it cannot.
bool may_be_slower(const Probed& probed, double median_s, double factor);
// How many times as long as the median sample a launch on new inputs takes, if that makes the row
// suspect: all of the probes look so, and each takes longer, by the same factor, than every launch
// after the old inputs were written but the longest of these. If the inputs made no difference, 11
// times of each kind would lie so once in 5e4 cases.
std::optional<double> slower_on_new_inputs(const Probed& probed, double median_s, double factor);

// Smallest share of the time that the measuring process saw that an isolated kernel's process may
// claim.
inline constexpr double kSmallestClaim = 0.9;
// Why a claimed time of a launch is not believed, both in seconds; empty if it is, and where
// nothing was seen: the kernel of the row is not isolated.
std::optional<std::string> doubted_claim(double claimed_s, std::optional<double> seen_s);

// The flag of a row whose process may claim too little, unseen: by what the measuring process saw,
// this launch takes less than half of the claimed time. On a busy host, the time that is taken off
// for commands and for waiting leaves little of a short batch.
inline constexpr const char* kClaimUnchecked = "claim_unchecked";
// Returns true if a row with this time has that flag. Both are in seconds.
bool claim_is_unchecked(double claimed_s, std::optional<double> seen_s);

// Takes the time of a row, and all that follows from it, out of its record. The samples stay.
void withhold_time(Record& record);

// Makes a row suspect: its record loses its time and the flags that only rows with a time have.
void suspect(Record& record, std::string reason);

}  // namespace ridgebench
