// The static libstdc++ of Debian 12 takes its random numbers from arc4random(), which glibc has
// from 2.36 on. A release has this one, and starts with glibc 2.34.
#include <unistd.h>

#include <cstdint>

extern "C" [[gnu::visibility("hidden")]] std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getentropy(&number, sizeof number) != 0) __builtin_trap();
  return number;
}
