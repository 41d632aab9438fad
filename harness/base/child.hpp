// Work in a process of its own: a driver that hangs or crashes there does not take this one along.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace ridgebench {

enum class ChildEnd : std::uint8_t { ended, hung, crashed };

struct ChildAnswer {
  ChildEnd end = ChildEnd::ended;
  int signal = 0;    // that ended a crashed one
  int code = -1;     // exit code of one that ended
  std::string text;  // what it wrote; of one that hung or crashed, what it wrote before
};

class Child {
 public:
  // Forks. `work` writes its answer to the descriptor; its standard output is /dev/null. The
  // process must not have used a library of the driver yet: it would not survive the fork.
  explicit Child(const std::function<void(int)>& work);
  Child(const Child&) = delete;  // owns a process
  Child& operator=(const Child&) = delete;
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  // Kills the process if it runs.
  ~Child();

  // Waits until the process ends or steady_s() reaches `until_s`. A process that then still runs
  // is killed and counts as hung, also if the kernel cannot end it.
  ChildAnswer wait(double until_s);

 private:
  pid_t process_ = -1;
  int answer_ = -1;
};

// In a child before it executes a program: the program's standard output is the answer, and its
// standard error is /dev/null.
void answer_with_stdout(int descriptor);

}  // namespace ridgebench
