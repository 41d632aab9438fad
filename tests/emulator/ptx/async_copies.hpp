// cp.async of one thread. A copy may happen at any time until the thread waits for it, so the
// destination is NaN from the issue on and the data arrive at the wait.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace ridgebench::emulator {

struct AsyncCopy {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
  std::size_t from_bytes;  // the rest becomes zero; 0: reads nothing
};

class AsyncCopies {
 public:
  void issue(const AsyncCopy& copy) {
    std::memset(copy.to, 0xFF, copy.bytes);
    open_.push_back(copy);
  }
  // Closes the group of what was issued since the last commit.
  void commit() {
    groups_.push_back(open_);
    open_.clear();
  }
  // Waits for all but the newest `pending` groups and calls `landed` for every copy.
  template <class Landed>
  void wait(std::size_t pending, const Landed& landed) {
    while (groups_.size() > pending) {
      perform(groups_.front(), landed);
      groups_.erase(groups_.begin());
    }
  }
  template <class Landed>
  void wait_all(const Landed& landed) {
    wait(0, landed);
    perform(open_, landed);
    open_.clear();
  }
  void forget() {
    open_.clear();
    groups_.clear();
  }

 private:
  using Group = std::vector<AsyncCopy>;

  template <class Landed>
  static void perform(const Group& group, const Landed& landed) {
    for (const AsyncCopy& copy : group) {
      std::memset(copy.to, 0, copy.bytes);
      if (copy.from_bytes > 0) std::memcpy(copy.to, copy.from, copy.from_bytes);
      landed(copy);
    }
  }

  Group open_;
  std::vector<Group> groups_;
};

}  // namespace ridgebench::emulator
