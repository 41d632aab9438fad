#include "harness/device/isolated/waiting.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace ridgebench {

WaitingTime::WaitingTime(pid_t process)
    : file_(open(fmt::format("/proc/{}/schedstat", process).c_str(), O_RDONLY | O_CLOEXEC)) {}

WaitingTime::~WaitingTime() {
  if (file_ >= 0) close(file_);
}

// The file has the nanoseconds on a processor and those of waiting for one.
double WaitingTime::seconds() const {
  std::array<char, 128> text{};
  if (file_ < 0 || pread(file_, text.data(), text.size() - 1, 0) <= 0) return 0;
  char* after = nullptr;
  std::strtoull(text.data(), &after, 10);
  return static_cast<double>(std::strtoull(after, nullptr, 10)) * 1e-9;
}

}  // namespace ridgebench
