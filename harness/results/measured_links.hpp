// The rates of copies that a results directory holds.
#pragma once

#include <string>

#include "roofline/plan/plan.hpp"

namespace ridgebench {

// The link of --link: a results directory, or what link_of takes. A directory has the rate of its
// fastest verified steady copy between host and GPU in one direction, "to-device" or "to-host", or
// "peer", to another GPU. Without a verified one that of an imported row counts, whose source says
// so. Throws UsageError for a directory without such a row, and for another direction.
Link open_link(const std::string& link, const std::string& direction);

// Returns the link of ranks that wait for one another, as in a ring. A directory has the rate of
// its slowest device or pair of devices. If it has several ways to copy, such as copy engines and
// kernels, only the ways with the most pairs count, and among them the one whose slowest pair is
// the fastest. The `remark` of the link names that pair and the file. Throws UsageError, as
// open_link().
Link open_link_of_ranks(const std::string& link, const std::string& direction);

inline constexpr const char* kToDevice = "to-device";
inline constexpr const char* kDirections = "to-device, to-host or peer";

}  // namespace ridgebench
