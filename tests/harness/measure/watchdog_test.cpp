#include "harness/measure/watchdog.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "harness/device/own_work.hpp"

namespace ridgebench {
namespace {

using std::chrono::milliseconds;
using ::testing::ExitedWithCode;

constexpr int kExpired = 6;
constexpr int kSurvived = 0;

[[noreturn]] void expire() { std::_Exit(kExpired); }

// A watchdog that expires ends its process, so each case runs in its own process. A case that must
// expire waits without end. A case that must not expire waits for longer than its limit.
class WatchdogDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  [[noreturn]] static void wait_for_ever() {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
};

TEST_F(WatchdogDeathTest, EndsTheProcessWhenARowOutlastsItsLimit) {
  const auto hang = [] {
    Watchdog watchdog(expire);
    watchdog.start(milliseconds(20));
    wait_for_ever();
  };
  EXPECT_EXIT(hang(), ExitedWithCode(kExpired), "");
}

TEST_F(WatchdogDeathTest, ALimitBeyondTheClocksReachIsNoneInThePast) {
  const auto finish = [] {
    Watchdog watchdog(expire);
    watchdog.start(std::chrono::duration<double>(1e300));
    std::this_thread::sleep_for(milliseconds(50));
    std::_Exit(kSurvived);
  };
  EXPECT_EXIT(finish(), ExitedWithCode(kSurvived), "");
}

TEST_F(WatchdogDeathTest, ARowThatFinishesStopsIt) {
  const auto finish = [] {
    Watchdog watchdog(expire);
    watchdog.start(std::chrono::hours(1));
    watchdog.start(std::chrono::seconds(2));
    watchdog.stop();
    std::this_thread::sleep_for(std::chrono::seconds(3));
    std::_Exit(kSurvived);
  };
  EXPECT_EXIT(finish(), ExitedWithCode(kSurvived), "");
}

TEST_F(WatchdogDeathTest, FillingAndVerifyingAreNoPartOfTheLimit) {
  const auto verify = [] {
    Watchdog watchdog(expire);
    const OwnWork own;
    watchdog.start(milliseconds(20));
    std::this_thread::sleep_for(milliseconds(400));
    watchdog.stop();
    std::_Exit(kSurvived);
  };
  EXPECT_EXIT(verify(), ExitedWithCode(kSurvived), "");
  const auto hang_later = [] {
    Watchdog watchdog(expire);
    watchdog.start(milliseconds(20));
    {
      const OwnWork own;
    }
    wait_for_ever();
  };
  EXPECT_EXIT(hang_later(), ExitedWithCode(kExpired), "");
}

TEST_F(WatchdogDeathTest, ARowOfManyLaunchesThatReturnDoesNotHang) {
  const auto launch_often = [] {
    Watchdog watchdog(expire);
    watchdog.start(std::chrono::seconds(6));
    for (int i = 0; i < 70; ++i) {
      std::this_thread::sleep_for(milliseconds(100));
      OwnWork::note_return();
    }
    std::_Exit(kSurvived);
  };
  EXPECT_EXIT(launch_often(), ExitedWithCode(kSurvived), "");
}

TEST_F(WatchdogDeathTest, EachRowHasItsOwnLimit) {
  const auto second_hangs = [] {
    Watchdog watchdog(expire);
    watchdog.start(std::chrono::hours(1));
    watchdog.stop();
    watchdog.start(milliseconds(20));
    wait_for_ever();
  };
  EXPECT_EXIT(second_hangs(), ExitedWithCode(kExpired), "");
}

TEST_F(WatchdogDeathTest, AShorterLimitReplacesALongerOne) {
  const auto hang = [] {
    Watchdog watchdog(expire);
    watchdog.start(std::chrono::hours(1));
    std::this_thread::sleep_for(milliseconds(50));  // the watchdog's thread sleeps then
    watchdog.start(milliseconds(20));
    wait_for_ever();
  };
  EXPECT_EXIT(hang(), ExitedWithCode(kExpired), "");
}

// Starts a child that stops itself for longer than its limit and continues it.
TEST(Watchdog, AStoppedProcessDoesNotHang) {
  const pid_t child = fork();
  if (child == 0) {
    Watchdog watchdog(expire);
    watchdog.start(milliseconds(1000));
    kill(getpid(), SIGSTOP);
    std::this_thread::sleep_for(milliseconds(20));  // the watchdog's thread may run
    std::_Exit(kSurvived);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(milliseconds(1200));
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kSurvived);
}

TEST(Watchdog, EndsAtOnceWhenItIsNotNeededAnyMore) {
  Watchdog idle(expire);
  Watchdog armed(expire);
  armed.start(std::chrono::hours(1));  // the destructor must not wait for this limit
}

}  // namespace
}  // namespace ridgebench
