// A thread of execution with a stack of its own that runs when it is told to, until it gives way.
#pragma once

#include <setjmp.h>

#include <cstddef>
#include <memory>

namespace ridgebench::emulator {

class Fiber {
 public:
  // `body` must not throw.
  explicit Fiber(void (*body)());
  Fiber(const Fiber&) = delete;  // its stack holds pointers into itself
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() = default;  // whatever the body still had to do is forgotten

  // Runs the body until it suspends or ends; after an end the next call starts it anew.
  void resume();
  // Called by the body: returns when the fiber is resumed.
  static void suspend();

 private:
  static void run();
  void start();

  void (*body_)();
  std::unique_ptr<std::byte[]> stack_;
  bool started_ = false;
  jmp_buf place_{};
  void* sanitizer_stack_ = nullptr;
};

}  // namespace ridgebench::emulator
