#include "harness/base/process.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <string>
#include <thread>

namespace ridgebench {
namespace {

// ulimit -s 1024 makes the stacks of new threads as small.
TEST(Process, ThreadsHaveStacksThatALowLimitDoesNotGive) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_getattr_default_np(&attributes), 0);
  const pthread_attr_t before = attributes;
  constexpr std::size_t kSmall = std::size_t{64} << 10U;
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kSmall), 0);
  ASSERT_EQ(pthread_setattr_default_np(&attributes), 0);
  ASSERT_TRUE(have_stack());
  std::size_t bytes = 0;
  std::thread([&] {
    pthread_attr_t own;
    if (pthread_getattr_np(pthread_self(), &own) != 0) return;
    pthread_attr_getstacksize(&own, &bytes);
    pthread_attr_destroy(&own);
  }).join();
  EXPECT_GE(bytes, std::size_t{2} << 20U);
  pthread_setattr_default_np(&before);
}

std::atomic<int> g_interruptions = 0;

// The pipe is full, so that the writer waits in write() when the signals come. The first one ends a
// call that has written some bytes, the second one a call that has written none: EINTR.
TEST(Process, AWriteThatSignalsInterruptIsWhole) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) { ++g_interruptions; };
  sigaction(SIGUSR1, &action, &before);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const std::string text(std::size_t{1} << 20U, 'x');
  bool written = false;
  std::thread writer([&] {
    written = write_all(ends[1], text);
    close(ends[1]);
  });
  std::string seen;
  std::array<char, 4096> buffer{};
  while (const ssize_t count = read(ends[0], buffer.data(), buffer.size())) {
    if (count < 0) continue;
    seen.append(buffer.data(), static_cast<std::size_t>(count));
    for (int i = 0; i < 2 && seen.size() < text.size() / 2; ++i) {
      const int interruptions = g_interruptions;
      pthread_kill(writer.native_handle(), SIGUSR1);
      while (g_interruptions == interruptions) std::this_thread::yield();
    }
  }
  writer.join();
  close(ends[0]);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(written);
  EXPECT_EQ(seen, text);
}

}  // namespace
}  // namespace ridgebench
