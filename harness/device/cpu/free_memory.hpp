// How much of the host's memory this process may still take.
#pragma once

namespace ridgebench {

// Bytes that the host has free, or what a control group or a limit of the address space leaves
// where that is less. A tenth of what the first call found stays free, for libraries and the rest
// of the system.
double allocatable_bytes();

}  // namespace ridgebench
