// The warm-up before the samples of a case.
#pragma once

#include "harness/measure/sampler.hpp"
#include "harness/measure/sampling/batch.hpp"

namespace ridgebench {

// Throws Interrupted if limits.stop returns true.
void check_stop(const SamplingLimits& limits);

// Launches until the running median is stable, and fits the size of the batches.
void warm_up(const Device& device, Batch& batch, const SamplingLimits& limits);

// Launches until the cap of the case before has gone: the power limit no longer lowers the clock,
// or the clock no longer rises, because the case itself draws as much. False if time is up first.
bool cap_has_gone(const Device& device, Batch& batch, const SamplingLimits& limits);

}  // namespace ridgebench
