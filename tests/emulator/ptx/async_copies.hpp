// cp.async of one thread. The copy may happen at any time until it is waited for, so the
// destination is NaN from its issue on and the data come at the wait.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace ridgebench::emulator {

struct AsyncCopy {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
  std::size_t from_bytes;  // the rest becomes zero; 0: nothing is read
};

class AsyncCopies {
 public:
  void issue(const AsyncCopy& copy) {
    std::memset(copy.to, 0xFF, copy.bytes);
    open_.push_back(copy);
  }
  // What has been issued since the last commit becomes a group.
  void commit() {
    groups_.push_back(open_);
    open_.clear();
  }
  // Waits for all groups but the newest `pending`; `landed` is told of every copy.
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
