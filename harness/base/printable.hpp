// Foreign text on a terminal: names and reasons from files, and words of the command line.
#pragma once

#include <string>
#include <string_view>

namespace ridgebench {

// Returns the text in one line that a terminal only shows. '?' takes the place of each control
// character, of each character that changes the direction of text or has no width, of U+FFFE and
// U+FFFF, and of each byte that is not UTF-8.
std::string printable(std::string_view text);

}  // namespace ridgebench
