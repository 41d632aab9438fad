// Cases of the lecture profile: one format, every technique at the first size of its sweep,
// and a technique that is worth a walk at all sizes.
#pragma once

#include <vector>

#include "harness/measure/case.hpp"

namespace ridgebench {

// Returns bf16 if a tensor engine of the device multiplies it, else fp32: a host without AMX.
Format lecture_format(const Registry& registry, const Device& device);

// Drops the kernels that the lecture does not measure. An operation without the lecture's format
// keeps its first one. Formats and shapes that the user named stay.
void keep_for_lecture(std::vector<Case>& cases, const Registry& registry,
                      const Selection& selection);

// Returns true if `c` is a fast technique that serves its shape, and no other of `cases` is a
// better choice for a walk through all sizes. A better one has the engine of the operation;
// hand-written, it tunes itself for each size; of a library, it does not, because that takes a
// second a size. Where power settles slowly, a row takes seconds, and one library walks through its
// sizes.
bool walks_all_sizes(const Case& c, const std::vector<Case>& cases);

}  // namespace ridgebench
