// Capabilities of a standard stream, and lines of text that need not arrive.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ridgebench {

struct Terminal {
  int columns;
  bool escapes;  // understands escape sequences; a dumb terminal does not
};

// The terminal behind a descriptor; empty if it is none.
std::optional<Terminal> terminal_of(int descriptor);

// True if the text of a stream gets colours by default: on a terminal without NO_COLOR.
bool wants_color(int descriptor);

// True if the locale's characters are UTF-8.
bool shows_utf8();

// Writes to stderr. A stream that is closed or full costs the text only.
void write_error(std::string_view text);

}  // namespace ridgebench
