// Exceptions that cross module borders, and the exit codes they lead to.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ridgebench {

// Process exit codes. Schedulers report the maximum of a job's steps, so worse is larger.
enum class ExitCode : std::uint8_t {
  fine = 0,
  usage = 2,
  undecided = 3,  // undecided or interrupted: results so far are kept
  regression = 4,
  not_comparable = 5,
  row_failed = 6,  // a row is wrong, suspect, invalid or failed
  device_lost = 7,
  internal = 8,
};

// The user asked for something that does not exist or makes no sense. The message is one line that
// names what was wrong and what is allowed. Exit code: usage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The device is absent, or was lost while it worked. Exit code: device_lost.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A technique that cannot serve this shape, format or device throws this from prepare or bind; the
// row becomes `skipped` with the reason.
class Unsupported : public std::runtime_error {
 public:
  // Defined out of line: files compiled for one instruction set must not emit it.
  explicit Unsupported(const char* reason);
  explicit Unsupported(const std::string& reason);
};

// Too little memory for a row's buffers; the row becomes `skipped`.
class OutOfMemory : public std::runtime_error {
 public:
  // Both in bytes.
  OutOfMemory(double asked, double free, const char* of = "device memory");
};

}  // namespace ridgebench
