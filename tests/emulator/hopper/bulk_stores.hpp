// TMA stores of one thread. Shared memory may be read at any time until the group is waited for,
// so it is read then; or at once, where the order of things is turned round.
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
  // What has been issued since the last commit becomes a group.
  void commit();
  // Waits until all groups but the newest `pending` have read shared memory; `written`: until they
  // have written global memory too.
  void wait(std::size_t pending, bool written, const SharedMemory& shared);
  // The thread ends: what has been read arrives. Faults where something has not.
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
