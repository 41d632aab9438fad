#include "harness/measure/kept_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstddef>

namespace ridgebench {

// The system reads the mask only together with setting it.
mode_t mask_of_new_files() {
  const mode_t mask = umask(077);
  umask(mask);
  return mask;
}

KeptState::KeptState()
    : folder_(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)),
      mask_(mask_of_new_files()),
      locale_(std::setlocale(LC_ALL, nullptr)) {
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked_);
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    getrlimit(static_cast<__rlimit_resource>(i), &limits_[i]);
  }
  std::fegetenv(&arithmetic_);
}

KeptState::~KeptState() {
  if (folder_ >= 0) {
    static_cast<void>(!fchdir(folder_));
    close(folder_);
  }
  umask(mask_);
  if (locale_ != std::setlocale(LC_ALL, nullptr)) std::setlocale(LC_ALL, locale_.c_str());
  pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const auto which = static_cast<__rlimit_resource>(i);
    rlimit now{};
    if (getrlimit(which, &now) != 0) continue;
    now.rlim_cur = std::min(limits_[i].rlim_cur, now.rlim_max);
    setrlimit(which, &now);
  }
  // LLVM's OpenMP gives the threads of a team the arithmetic of this one, and at the end this one
  // its own of before; GCC's gives them nothing.
  std::fesetenv(&arithmetic_);
#pragma omp parallel
  std::fesetenv(&arithmetic_);
}

}  // namespace ridgebench
