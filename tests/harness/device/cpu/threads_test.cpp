#include "harness/device/cpu/threads.hpp"

#include <gmock/gmock.h>

namespace ridgebench {
namespace {

using ::testing::HasSubstr;

// On four processors that OpenMP would use.
ThreadLimits four() { return {.processors = 4, .cpu_quota = {}, .asked = {}, .openmp = 4}; }

TEST(CountThreads, OneForEachProcessorWithoutOtherLimits) {
  const ThreadCount count = count_threads(four());
  EXPECT_EQ(count.threads, 4);
  EXPECT_EQ(count.limited_by, "processors");
  EXPECT_EQ(count.note, "");
}

TEST(CountThreads, FollowsAQuotaDownToWholeProcessors) {
  struct Case {
    double quota;
    int threads;
  };
  for (const Case& c : {Case{0.5, 1}, {1, 1}, {1.5, 1}, {2, 2}, {3.99, 3}}) {
    ThreadLimits limits = four();
    limits.cpu_quota = c.quota;
    EXPECT_EQ(count_threads(limits).threads, c.threads) << c.quota;
    EXPECT_EQ(count_threads(limits).limited_by, "cpu_quota") << c.quota;
  }
  for (const double quota : {4.0, 100.0, 1e300}) {
    ThreadLimits limits = four();
    limits.cpu_quota = quota;
    EXPECT_EQ(count_threads(limits).threads, 4) << quota;
    EXPECT_EQ(count_threads(limits).limited_by, "processors") << quota;
  }
}

TEST(CountThreads, HonoursOmpNumThreadsBelowTheOtherLimits) {
  for (const char* asked : {"2", "2,1", " 2 "}) {
    ThreadLimits limits = four();
    limits.asked = asked;
    limits.openmp = 2;
    const ThreadCount count = count_threads(limits);
    EXPECT_EQ(count.threads, 2) << asked;
    EXPECT_EQ(count.limited_by, "openmp") << asked;
    EXPECT_EQ(count.note, "") << asked;
  }
}

TEST(CountThreads, SaysWhereOmpNumThreadsIsNotHonoured) {
  for (const char* asked : {"0", "abc", "-1", "", "1.5", "2x", ",2"}) {
    ThreadLimits limits = four();
    limits.asked = asked;
    EXPECT_EQ(count_threads(limits).note,
              std::string("OMP_NUM_THREADS=") + asked +
                  " is not a number of threads from 1; the run uses 4 threads");
  }
  ThreadLimits many = four();
  many.asked = "64";
  many.openmp = 64;
  EXPECT_EQ(count_threads(many).threads, 4);
  EXPECT_EQ(count_threads(many).note,
            "OMP_NUM_THREADS=64 exceeds the 4 processors of this process; the run uses 4 threads");
  many.cpu_quota = 1.5;
  EXPECT_THAT(count_threads(many).note, HasSubstr("the control group's CPU quota of 1.5"));
  EXPECT_THAT(count_threads(many).note, HasSubstr("the run uses 1 thread"));
  many.asked = "99999999999999999999";
  EXPECT_THAT(count_threads(many).note, HasSubstr("exceeds"));
  ThreadLimits limited = four();  // OMP_THREAD_LIMIT=2
  limited.asked = "3";
  limited.openmp = 2;
  EXPECT_THAT(count_threads(limited).note, HasSubstr("exceeds another limit of OpenMP"));
}

}  // namespace
}  // namespace ridgebench
