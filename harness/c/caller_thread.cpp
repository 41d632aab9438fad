#include "harness/c/caller_thread.hpp"

#include <cstddef>

namespace ridgebench {

CallerThread::CallerThread() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &handlers_[i]);
  sched_getaffinity(0, sizeof own_, &own_);
  pinned_ = own_;
}

CallerThread::~CallerThread() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &handlers_[i], nullptr);
  sched_setaffinity(0, sizeof own_, &own_);
}

void CallerThread::keep_pinned_processors() { sched_getaffinity(0, sizeof pinned_, &pinned_); }

void CallerThread::bound() {
  if (sets_bound_++ == 0) sched_setaffinity(0, sizeof own_, &own_);
}

void CallerThread::released() {
  if (--sets_bound_ == 0) sched_setaffinity(0, sizeof pinned_, &pinned_);
}

}  // namespace ridgebench
