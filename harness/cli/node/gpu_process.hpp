// The process that measures or burns in one GPU: `ridgebench run` or `soak` for that device.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace ridgebench::node {

class GpuProcess {
 public:
  // Starts this program. Its standard output is dropped, and its standard error is appended to
  // `log`. It ends with this process, and has a process group of its own: Ctrl-C reaches it only
  // through signal().
  // Throws UsageError for a log that cannot be written, std::system_error.
  GpuProcess(std::vector<std::string> arguments, const std::filesystem::path& log);
  GpuProcess(const GpuProcess&) = delete;  // owns a process
  GpuProcess& operator=(const GpuProcess&) = delete;
  // Kills the process if it runs.
  ~GpuProcess();

  enum class Change : std::uint8_t { none, stopped, ended };
  // Returns the events since the last call. Does not wait.
  Change poll();
  // The status of waitpid once the process has ended.
  [[nodiscard]] int status() const { return status_; }
  // Sends a signal to the process and what it started.
  void signal(int number) const;

 private:
  pid_t process_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace ridgebench::node
