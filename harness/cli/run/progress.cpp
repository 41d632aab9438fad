#include "harness/cli/run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string_view>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"

namespace ridgebench {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

Progress::~Progress() {
  if (shown_) write_error(kClearLine);
}

void Progress::update(std::size_t done, const std::string& what) {
  const double now = clock_.seconds();
  const double left = now / static_cast<double>(done) * static_cast<double>(total_ - done);
  const std::string text =
      fmt::format("{}/{} cases, {:.0f} s left  {}", done, total_, left, printable(what));
  const std::optional<Terminal> terminal = terminal_of(STDERR_FILENO);  // its width may change
  if (!terminal || !terminal->escapes) {
    if (now - logged_s_ < interval_s_) return;
    logged_s_ = now;
    write_error(text + "\n");
    return;
  }
  constexpr std::size_t width = 24;
  const std::string line =
      fmt::format("[{:<{}}] {}", std::string(width * done / total_, '#'), width, text);
  // A line that fills the last column would wrap on some terminals.
  const auto columns = static_cast<std::size_t>(terminal->columns - 1);
  write_error(fmt::format("{}{}", kClearLine, line.substr(0, columns)));
  shown_ = true;
}

}  // namespace ridgebench
