#include "tests/emulator/hopper/bulk_stores.hpp"

#include <algorithm>
#include <utility>

#include "tests/emulator/core/shared_memory.hpp"
#include "tests/emulator/emulator.hpp"

namespace ridgebench::emulator {
namespace {

void read(std::vector<BulkStore>& group, const SharedMemory& shared) {
  for (BulkStore& store : group) {
    if (store.box.empty()) store.box = gather_box(store.map, store.from, shared);
  }
}

void write(const std::vector<BulkStore>& group) {
  for (const BulkStore& store : group) write_box(store.map, store.place, store.box);
}

}  // namespace

void BulkStores::issue(BulkStore store, const SharedMemory& shared, bool read_now) {
  open_.push_back(std::move(store));
  if (read_now) read(open_, shared);
}

void BulkStores::commit() { groups_.push_back(std::exchange(open_, {})); }

void BulkStores::wait(std::size_t pending, bool written, const SharedMemory& shared) {
  const std::size_t done = groups_.size() - std::min(groups_.size(), pending);
  for (std::size_t i = 0; i < done; ++i) read(groups_[i], shared);
  if (!written) return;
  for (std::size_t i = 0; i < done; ++i) write(groups_[i]);
  groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(done));
}

void BulkStores::finish() {
  if (!open_.empty()) fault("ends with TMA stores that are in no group");
  for (const Group& group : groups_) {
    const bool was_read =
        std::ranges::none_of(group, [](const BulkStore& store) { return store.box.empty(); });
    if (!was_read) fault("ends without waiting for its TMA stores to read shared memory");
    write(group);
  }
  groups_.clear();
}

}  // namespace ridgebench::emulator
