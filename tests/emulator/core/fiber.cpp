// ucontext creates a stack; setjmp and longjmp switch stacks. ucontext alone would call the
// operating system for the signal mask at each switch, which takes 20 times as long.
#undef _FORTIFY_SOURCE  // its longjmp rejects a jump to another stack
#include "tests/emulator/core/fiber.hpp"

#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace ridgebench::emulator {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10U;

Fiber* running = nullptr;
jmp_buf resumer;

// The stack that resumed a fiber: the address sanitizer must be notified of every switch.
const void* resumer_stack = nullptr;
std::size_t resumer_bytes = 0;

void leave([[maybe_unused]] void** save, [[maybe_unused]] const void* to,
           [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(save, to, bytes);
#endif
}

void arrive([[maybe_unused]] void* saved, [[maybe_unused]] const void** from,
            [[maybe_unused]] std::size_t* bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(saved, from, bytes);
#endif
}

}  // namespace

// Functions that a jump leaves are not instrumented, because their marks would stay on the stack.

Fiber::Fiber(void (*body)())
    : body_(body), stack_(std::make_unique_for_overwrite<std::byte[]>(kStackBytes)) {}

[[gnu::no_sanitize_address]] void Fiber::resume() {
  void* saved = nullptr;
  running = this;
  leave(&saved, stack_.get(), kStackBytes);
  if (_setjmp(resumer) == 0) {
    if (!started_) start();
    _longjmp(place_, 1);
  }
  arrive(saved, nullptr, nullptr);
}

[[gnu::no_sanitize_address]] void Fiber::start() {
  started_ = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stack_.get();
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
  makecontext(&context, run, 0);
  setcontext(&context);
}

void Fiber::run() {
  arrive(nullptr, &resumer_stack, &resumer_bytes);
  for (;;) {
    running->body_();
    suspend();
  }
}

[[gnu::no_sanitize_address]] void Fiber::suspend() {
  leave(&running->sanitizer_stack_, resumer_stack, resumer_bytes);
  if (_setjmp(running->place_) == 0) _longjmp(resumer, 1);
  arrive(running->sanitizer_stack_, &resumer_stack, &resumer_bytes);
}

}  // namespace ridgebench::emulator
