// The checks of a request that need no device.
#pragma once

#include "harness/results/environment.hpp"

namespace ridgebench {

// Throws UsageError for what no device can measure, before one is opened: a machine that plans the
// runs of others need not have any.
void refuse_request(const RunRequest& request);

}  // namespace ridgebench
