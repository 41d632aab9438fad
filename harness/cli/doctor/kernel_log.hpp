// Errors of NVIDIA's driver in the kernel's log.
#pragma once

#include <filesystem>

#include "harness/cli/doctor/facts.hpp"

namespace ridgebench::doctor {

// Returns the errors that the log in dev/kmsg holds, which begins at the start of the machine and
// loses its oldest lines: {xids: [{pci_address, xid, count}], sxids: [{pci_address, sxid, severity,
// count}]} of GPUs and of NVSwitches, in the order of their first line. The address has no
// function: "0000:1b:00". The severity is fatal or non_fatal, and null if the line has no such
// word. Null if the log cannot be read, as by most users and in containers.
Facts read_kernel_log(const std::filesystem::path& root);

// The XIDs of a GPU, [{xid, count}]; null if the log is unknown. `log`: what read_kernel_log()
// read.
Facts xids_of(const Facts& log, const std::string& pci_address);

}  // namespace ridgebench::doctor
