#include "harness/base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace ridgebench {

std::optional<Terminal> terminal_of(int descriptor) {
  if (isatty(descriptor) != 1) return std::nullopt;
  constexpr int usual = 80;
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const char* const type = std::getenv("TERM");
  const bool dumb = type == nullptr || std::string_view(type) == "dumb";
  return Terminal{.columns = known ? size.ws_col : usual, .escapes = !dumb};
}

bool wants_color(int descriptor) {
  const char* const no_color = std::getenv("NO_COLOR");  // https://no-color.org
  const std::optional<Terminal> terminal = terminal_of(descriptor);
  return terminal && terminal->escapes && (no_color == nullptr || *no_color == '\0');
}

bool shows_utf8() {
  // The variables of POSIX, the strongest first.
  for (const char* const variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    constexpr std::array<std::string_view, 4> kNames{"UTF-8", "utf-8", "UTF8", "utf8"};
    return std::ranges::any_of(
        kNames, [&](std::string_view name) { return locale.find(name) != std::string_view::npos; });
  }
  return false;
}

void write_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace ridgebench
