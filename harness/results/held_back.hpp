// Environment variables that keep a library from its best. A library that is held back is no
// yardstick: its rows name the variable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

// Prefixes of the variables that the libraries read.
std::vector<std::string_view> library_prefixes();

// The variables, as "NAME=VALUE NAME=VALUE", that are set and may slow the library of a technique
// (onednn, openblas, cublas, cublas_tuned, ...); empty if there is none.
std::optional<std::string> held_back_by(std::string_view technique);

}  // namespace ridgebench
