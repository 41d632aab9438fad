#include "harness/cli/node/gpu_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "harness/base/process.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench::node {

GpuProcess::GpuProcess(std::vector<std::string> arguments, const std::filesystem::path& log) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) {
    throw UsageError(
        fmt::format("cannot write {}; allowed: a folder that can be written to", log.string()));
  }
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {  // only async-signal-safe calls from here on
    die_with_parent(parent);
    setpgid(0, 0);
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    process_start().execute_itself(pointers.data());
    _exit(static_cast<int>(ExitCode::internal));
  }
  close(file);
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  setpgid(process_, process_);  // whichever process comes first
}

GpuProcess::~GpuProcess() {
  if (ended_) return;
  signal(SIGKILL);
  // A process that hangs inside a call of the driver outlives SIGKILL: this one does not wait.
  for (int i = 0; i < 100 && poll() != Change::ended; ++i) usleep(1000);
}

GpuProcess::Change GpuProcess::poll() {
  int status = 0;
  if (ended_ || waitpid(process_, &status, WNOHANG | WUNTRACED) != process_) return Change::none;
  if (WIFSTOPPED(status)) return Change::stopped;
  status_ = status;
  ended_ = true;
  return Change::ended;
}

void GpuProcess::signal(int number) const {
  if (!ended_) kill(-process_, number);
}

}  // namespace ridgebench::node
