#include "harness/base/process.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
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

}  // namespace
}  // namespace ridgebench
