// Costs of the check of a case beside the kernel: memory of the host and time.
#pragma once

#include <optional>
#include <string>

#include "harness/measure/buffers.hpp"
#include "harness/measure/case.hpp"

namespace ridgebench {

struct CheckNeeds {
  double bytes;      // of the host's memory at once
  double first_s;    // reference of the first buffer set, which all techniques share
  double further_s;  // of later sets and of new inputs, for each technique
};

// Estimates them before the case is measured, from the cost of its reference.
CheckNeeds check_needs(const Case& c, const Problem& problem);

// Bytes that the technique allocates beside the operands, as it declares; 0 for a case without a
// technique.
double workspace_bytes(const Case& c);

// Throws OutOfMemory if a buffer set of the case and its check do not fit. On a host they share the
// memory with the technique's workspace and `others`, bytes of further workspaces.
void require_room(const Buffers& buffers, const Case& c, const Problem& problem, double others = 0);

// Returns why the case would not fit now if it came first; empty if it does.
std::optional<std::string> lacks_memory(const Case& c, const Problem& problem);

}  // namespace ridgebench
