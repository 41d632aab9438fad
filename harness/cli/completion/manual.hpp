// The manual page, section 1, in the macros of man(7).
#pragma once

#include <string>

#include "harness/cli/completion/command_tree.hpp"

namespace ridgebench {

std::string manual(const Command& root);

}  // namespace ridgebench
