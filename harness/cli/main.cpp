#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "harness/base/process.hpp"
#include "harness/cli/commands.hpp"

int main(int argc, char** argv) {
  ridgebench::open_standard_streams();
  if (!ridgebench::have_stack()) {
    std::fputs(
        "ridgebench: the stack is limited to less than 1 MiB; allowed: ulimit -s 1024 or more\n",
        stderr);
    return static_cast<int>(ridgebench::ExitCode::usage);
  }
  ridgebench::keep_freed_memory();
  return ridgebench::run_command_line(argc, argv);
}
