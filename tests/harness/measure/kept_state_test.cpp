#include "harness/measure/kept_state.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <filesystem>
#include <limits>

#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

TEST(KeptStateTest, WhatARowChangedIsAsItWas) {
  const TemporaryDirectory elsewhere;
  const auto folder = std::filesystem::current_path();
  const mode_t mask = mask_of_new_files();
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const std::string locale = std::setlocale(LC_ALL, nullptr);
  {
    const KeptState state;
    std::filesystem::current_path(elsewhere.path());
    umask(mask ^ 0777U);
    const rlimit fewer{.rlim_cur = files.rlim_cur - 1, .rlim_max = files.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &fewer), 0);
    ASSERT_NE(std::setlocale(LC_ALL, locale == "C" ? "C.UTF-8" : "C"), nullptr);
    sigset_t terminate;
    sigemptyset(&terminate);
    sigaddset(&terminate, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &terminate, nullptr);
    std::fesetround(FE_UPWARD);
  }
  EXPECT_EQ(std::filesystem::current_path(), folder);
  EXPECT_EQ(mask_of_new_files(), mask);
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, files.rlim_cur);
  EXPECT_EQ(std::setlocale(LC_ALL, nullptr), locale);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 0);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(KeptStateTest, ThreadsOfOpenMpRoundAsBefore) {
  int upward = 0;
  {
    const KeptState state;
#pragma omp parallel
    std::fesetround(FE_UPWARD);
  }
#pragma omp parallel reduction(+ : upward)
  upward += std::fegetround() == FE_TONEAREST ? 0 : 1;
  EXPECT_EQ(upward, 0);
}

#if defined(__SSE__)
// The bits DAZ and FTZ of MXCSR: Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 1, 10.2.3.
TEST(KeptStateTest, SmallNumbersAreNoZerosAfterwards) {
  volatile double smallest = std::numeric_limits<double>::min();
  {
    const KeptState state;
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U);
    ASSERT_EQ(smallest / 2, 0);
  }
  EXPECT_GT(smallest / 2, 0);
}
#endif

}  // namespace
}  // namespace ridgebench
