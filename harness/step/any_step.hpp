// A step of either kind, and what of its record follows from its sizes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "harness/step/decode_step.hpp"
#include "harness/step/step_program.hpp"
#include "harness/step/step_record.hpp"
#include "harness/step/training_step.hpp"

namespace ridgebench {

struct StepPlan {
  std::variant<TrainingStep, DecodeStep> step;
  std::string checkpoint = "none";  // of training, as the user named it
};

// The launches of a step. It must pass check_plan().
StepProgram program_of(const StepPlan& plan);
// Throws UsageError for what check() of its kind refuses.
void check_plan(const StepPlan& plan);
// The kinds of tensors that the step leaves as its results.
std::vector<std::string> kinds_of_results(const StepPlan& plan);

// The bytes that live at each launch by the closed form of a layer, which does not allocate.
std::vector<std::int64_t> predicted_live_bytes(const StepPlan& plan);

// Sets the keys of the sizes and choices, of the FLOPs and of the predicted memory, and the id
// without its device.
void describe(const StepPlan& plan, StepRecord& record);
// The step whose sizes a record states. Throws UsageError where a key of its kind is null.
StepPlan stated_plan(const StepRecord& record);

// Sets the keys of a decode step that follow from its time and its parts.
void derive_rates(StepRecord& record);

// Returns true if the products of a timed step are faster than their measured roofs by more than
// kSuspectMargin, by themselves or within the step: caches served them, or another process slowed a
// ceiling. The step then has the flag kAboveRoof.
bool above_roofs(const StepRecord& record);

}  // namespace ridgebench
