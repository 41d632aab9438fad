// TMA stores of one thread. TMA may read shared memory at any time until the thread waits for the
// group, so the emulator reads it at the wait, or at once in the opposite order.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tests/emulator/hopper/tensor_map.hpp"

namespace ridgebench::emulator {

class SharedMemory;

struct BulkStore {
  TiledMap map;
  BoxPlace place;
  std::uint32_t from;
  std::vector<std::byte> box;  // empty: not read yet
};

class BulkStores {
 public:
  void issue(BulkStore store, const SharedMemory& shared, bool read_now);
  // Closes the group of what was issued since the last commit.
  void commit();
  // Waits until all but the newest `pending` groups have read shared memory, and with `written`
  // until they have written global memory.
  void wait(std::size_t pending, bool written, const SharedMemory& shared);
  // Called when the thread ends: completes the stores, and faults where shared memory is unread.
  void finish();
  void forget() {
    open_.clear();
    groups_.clear();
  }

 private:
  using Group = std::vector<BulkStore>;

  Group open_;
  std::vector<Group> groups_;  // not written yet, oldest first
};

}  // namespace ridgebench::emulator
