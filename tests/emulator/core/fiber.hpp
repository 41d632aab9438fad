// A thread of execution with its own stack. It runs when resumed, until it suspends itself.
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
  ~Fiber() = default;  // the rest of the body is dropped

  // Runs the body until it suspends or ends; after the end the next call starts it again.
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
