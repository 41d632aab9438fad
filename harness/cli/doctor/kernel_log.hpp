// Errors of NVIDIA's driver in the kernel's log.
#pragma once

#include <filesystem>

#include "harness/cli/doctor/facts.hpp"

namespace ridgebench::doctor {

// Returns the XIDs that the log in dev/kmsg holds, which begins at the start of the machine and
// loses its oldest lines: [{pci_address, xid, count}] in the order of their first line. The address
// has no function: "0000:1b:00". Null if the log cannot be read, as by most users and in
// containers.
Facts read_xids(const std::filesystem::path& root);

// The XIDs of a GPU, [{xid, count}]; null if the log is unknown.
Facts xids_of(const Facts& log, const std::string& pci_address);

}  // namespace ridgebench::doctor
