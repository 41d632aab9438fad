// A step as text for people.
#pragma once

#include <optional>
#include <string>

#include "harness/step/step_record.hpp"

namespace ridgebench {

// Memory, FLOPs and, of a measured step, the table of its parts and its times from the data sheet
// to the chain. `free_bytes` is the free memory of the device before the step, if it is known.
std::string step_text(const StepRecord& record, std::optional<double> free_bytes);

}  // namespace ridgebench
