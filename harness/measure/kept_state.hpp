// State of this process that a kernel may change and that later rows and files depend on.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cfenv>
#include <csignal>
#include <string>

namespace ridgebench {

// The current folder, the mask of new files, the locale, the blocked signals, the limits, and the
// rounding and flushing of small numbers, of this thread and of the threads of OpenMP.
class KeptState {
 public:
  // Reads it.
  KeptState();
  KeptState(const KeptState&) = delete;  // restores once
  KeptState& operator=(const KeptState&) = delete;
  // Makes it what it was, as far as the system allows: a hard limit that was lowered stays.
  ~KeptState();

 private:
  int folder_;
  mode_t mask_;
  std::string locale_;
  sigset_t blocked_{};
  std::array<rlimit, RLIM_NLIMITS> limits_{};
  std::fenv_t arithmetic_{};
};

// The bits that umask() keeps from new files.
mode_t mask_of_new_files();

}  // namespace ridgebench
