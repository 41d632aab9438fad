// The clock that the processors of a host hold. What a kernel or a virtual machine reports is
// nominal, and counters of cycles are often withheld; a chain of dependent additions takes one
// cycle each on every x86-64 processor (Fog, "Instruction tables"; Abel and Reineke, uops.info),
// whatever another thread of the same core does.
#pragma once

#include <optional>

namespace ridgebench {

// Hz, the mean of an OpenMP team of so many threads over some 8 us, 0.3 % low for what the timer
// itself takes. Empty where the processor is no x86-64.
std::optional<double> core_clock_hz(int threads);

}  // namespace ridgebench
