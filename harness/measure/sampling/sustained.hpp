// How long cases of a tensor engine, and ceilings of the memory, run on a device whose power
// settles slowly.
#pragma once

#include "harness/measure/case.hpp"

namespace ridgebench {

// Shortest warm-up. A ceiling warms up for five times its share, up to 10 s, so that its rate is
// one that the device sustains when it is hot. 0 for bursts, other cases and devices.
double sustained_warm_up_s(const Case& c, double seconds);

// Shortest sampling under load: 2 s for a ceiling that is not a burst. 0 for other cases and
// devices.
double sustained_sampling_s(const Case& c);

// Longest sampling under load: 50 ms for a burst, in which heat and the average that a power limit
// looks at hardly move. Infinite for other cases and devices.
double longest_sampling_s(const Case& c);

// Seconds that the case is expected to take beyond its share. Most kernels of a tensor engine meet
// the power limit and sample for kSustained_s, except those that the memory limits.
double beyond_share_s(const Case& c, double seconds);

}  // namespace ridgebench
