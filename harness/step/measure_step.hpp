// Measures a step on a device: its ceilings, the step as a chain of launches, and each
// part of it by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "harness/device/device.hpp"
#include "harness/results/record.hpp"
#include "harness/step/any_step.hpp"
#include "harness/step/chain.hpp"
#include "harness/step/step_record.hpp"

namespace ridgebench {

struct StepRequest {
  StepPlan plan = {};
  TechniqueRequest techniques = {};
  std::uint64_t seed = 1;
  double seconds = 4;                 // for the samples of the step; the parts share as many
  std::vector<Record> ceilings = {};  // of an earlier run; the step measures those that it lacks
};

// A step before it is measured.
struct PlannedStep {
  StepProgram program;
  Placement placement = {};
  StepRecord record = {};  // its sizes, FLOPs and memory
};
// Plans a step that passes check_plan().
PlannedStep plan_step(const StepRequest& request, const Device& device);

// True if the memory of the step is free.
bool step_fits(const StepRecord& record, double free_bytes);

// Returns the record of a step that is not measured. If its memory is not free, the record has the
// reason that measure_step() would give.
StepRecord unmeasured_step(const PlannedStep& planned, double free_bytes);

// Measures the step. A failure becomes the record's status and reason; wrong outputs have the
// status wrong and no time. Stops when `stop` returns true: throws Interrupted. Throws DeviceError
// if the device is lost, and UsageError for a technique that an operation does not have.
StepRecord measure_step(const StepRequest& request, const PlannedStep& planned, Device& device,
                        const std::function<bool()>& stop);

}  // namespace ridgebench
