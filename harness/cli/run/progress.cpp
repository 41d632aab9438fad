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
  constexpr std::size_t width = 24;
  show(fmt::format("{}/{} cases, {:.0f} s left  {}", done, total_, left, printable(what)),
       fmt::format("[{:<{}}] ", std::string(width * done / total_, '#'), width));
}

void Progress::show(const std::string& text, const std::string& bar) {
  const double now = clock_.seconds();
  const std::optional<Terminal> terminal = terminal_of(STDERR_FILENO);  // its width may change
  if (!terminal || !terminal->escapes) {
    if (now - logged_s_ < interval_s_) return;
    logged_s_ = now;
    write_error(text + "\n");
    return;
  }
  const std::string line = bar + text;
  // A line that fills the last column would wrap on some terminals.
  const auto columns = static_cast<std::size_t>(terminal->columns - 1);
  write_error(fmt::format("{}{}", kClearLine, line.substr(0, columns)));
  shown_ = true;
}

}  // namespace ridgebench
