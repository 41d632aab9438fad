// Texts that cross the C interface. A null pointer represents an empty text.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/c/ridgebench.h"
#include "kernels/common/format.hpp"

namespace ridgebench {

std::string text_of(const char* given);
// Splits "m,n"; an empty text has no part.
std::vector<std::string> parts_of(std::string_view list);
// Throws UsageError that begins with `what` unless the text is a name: a-z, 0-9 and _, a letter
// first. Names are parts of ids, of regular expressions and of files.
std::string checked_name(const char* what, const char* given);
// A list of formats without doubles. Throws UsageError that names `owner` for an empty one.
std::vector<FormatPair> formats_of(const std::string& owner, const char* list);

// The message of a callback that failed, in one line.
using Message = std::array<char, RIDGEBENCH_MESSAGE_BYTES>;
std::string line_of(const Message& message);

}  // namespace ridgebench
