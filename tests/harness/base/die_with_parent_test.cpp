#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "harness/base/process.hpp"

namespace ridgebench {
namespace {

// Between its start and this call a process may lose its parent, which then sends no signal.
TEST(DieWithParent, EndsAProcessWhoseParentHasEndedAlready) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // the orphan becomes a child of this process
  const pid_t parent = fork();
  if (parent == 0) {
    const pid_t self = getpid();
    if (fork() == 0) {
      while (getppid() == self) usleep(1000);
      die_with_parent(self);
      _exit(0);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(parent, &status, 0), parent);
  ASSERT_GT(waitpid(-1, &status, 0), 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace ridgebench
