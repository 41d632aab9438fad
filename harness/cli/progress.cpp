#include "harness/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace ridgebench {

Progress::Progress(std::size_t total) : total_(total), terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::update(std::size_t done, const std::string& what) {
  if (!terminal_) return;
  constexpr std::size_t width = 24;
  const double left =
      clock_.seconds() / static_cast<double>(done) * static_cast<double>(total_ - done);
  const std::string bar(width * done / total_, '#');
  fmt::print(stderr, "\r\x1b[K[{:<{}}] {}/{} rows, {:.0f} s left  {:.60}", bar, width, done, total_,
             left, what);
  std::fflush(stderr);
}

void Progress::clear() const {
  if (terminal_) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace ridgebench
