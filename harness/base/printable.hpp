// Foreign text on a terminal: names and reasons from files, and words of the command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ridgebench {

// Returns the text in one line that a terminal only shows. '?' takes the place of each control
// character, of each character that changes the direction of text or has no width, of U+FFFE and
// U+FFFF, and of each byte that is not UTF-8.
std::string printable(std::string_view text);

// Columns of a text that is not fitted to a terminal.
inline constexpr std::size_t kTextColumns = 80;
// Breaks the text between words. A line that would pass the last column continues at the margin,
// where the first line begins. Without columns, or with too few, the text stays as it is.
std::string wrapped(const std::string& text, std::size_t margin,
                    const std::optional<std::size_t>& columns);

}  // namespace ridgebench
