#include "harness/base/sudden_end.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>
#include <vector>

namespace ridgebench {
namespace {

// Reads the alternate signal stack when a thread ends, and sets the one before it.
struct StackAtEnd {
  stack_t* found;
  stack_t before;
  StackAtEnd(stack_t* to, const stack_t& earlier) : found(to), before(earlier) {}
  StackAtEnd(const StackAtEnd&) = delete;
  StackAtEnd& operator=(const StackAtEnd&) = delete;
  ~StackAtEnd() { sigaltstack(&before, found); }
};

TEST(SuddenEnd, GivesAThreadItsSignalStackBack) {
  std::vector<std::byte> memory(std::size_t{1} << 16U);
  stack_t at_end{};
  std::thread([&] {
    const stack_t own{.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
    stack_t earlier{};
    sigaltstack(&own, &earlier);
    thread_local const StackAtEnd reader(&at_end,
                                         earlier);  // ends after what the thread makes later
    before_sudden_end([](std::size_t) {});
    stack_t within{};
    sigaltstack(nullptr, &within);
    EXPECT_NE(within.ss_sp, memory.data());
    before_sudden_end(nullptr);
  }).join();
  EXPECT_EQ(at_end.ss_sp, memory.data());
}

}  // namespace
}  // namespace ridgebench
