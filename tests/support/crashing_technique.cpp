// A technique of relu that takes the process down in the way that RIDGEBENCH_TEST_CRASH names. It
// exists only where the variable is set, so that no other test meets it.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

// Recurses deeper than any stack. The volatile frame keeps the compiler from making it a loop.
int overflow(int depth) {     // NOLINT(misc-no-recursion): that is the fault
  volatile char frame[4096];  // NOLINT(modernize-avoid-c-arrays)
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : overflow(depth - 1) + frame[0];
}

void crash(std::string_view how) {
  if (how == "abort") std::abort();
  if (how == "exit") std::exit(0);
  if (how == "_exit") std::_Exit(0);
  if (how == "quick_exit") std::quick_exit(0);
  if (how == "throw") throw std::runtime_error("an exception that a thread does not catch");
  if (how == "SIGSEGV") *static_cast<volatile int*>(nullptr) = 1;
  if (how == "SIGFPE") raise(SIGFPE);
  if (how == "SIGILL") __builtin_trap();
  if (how == "stack") overflow(1 << 30);
  if (how == "elsewhere" && chdir("/") == 0) {
    umask(0777);
    std::abort();
  }
}

Launch bind(Queue& queue, const Shape& /*shape*/, const float* /*x*/, float* /*y*/) {
  return [threads = queue.threads()] {
    const std::string_view how = std::getenv("RIDGEBENCH_TEST_CRASH");
    if (how == "thread") std::thread([] { crash("throw"); }).join();
    if (how != "all threads") return crash(how);
#pragma omp parallel num_threads(threads)
    crash("SIGSEGV");
  };
}

[[maybe_unused]] const auto registered = [] {
  if (std::getenv("RIDGEBENCH_TEST_CRASH") != nullptr) {
    Registration({.operation = "relu", .name = "crashing", .engine = Engine::memory}, bind);
  }
  return true;
}();

}  // namespace
}  // namespace ridgebench
