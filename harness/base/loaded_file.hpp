// The file that a library came from, which the program loaded by its name.
#pragma once

#include <string>
#include <string_view>

namespace ridgebench {

// The file, behind all links, of the first loaded library whose file name begins with `name`;
// empty if none is loaded.
std::string loaded_file(std::string_view name);

}  // namespace ridgebench
