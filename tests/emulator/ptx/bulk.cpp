// TMA. Source: PTX ISA, "cp.async.bulk.tensor", "cp.async.bulk.commit_group" and "wait_group".
#include "tests/emulator/core/block.hpp"
#include "tests/emulator/hopper/cluster.hpp"
#include "tests/emulator/hopper/cluster_address.hpp"
#include "tests/emulator/ptx/ptx.hpp"

namespace ridgebench::emulator {
namespace {

constexpr std::uint32_t kBoxAlignment = 128;

void require_aligned_box(std::uint32_t address) {
  if (address % kBoxAlignment != 0) {
    fault("a TMA box in shared memory that is not aligned to 128 bytes");
  }
}

// Only copies by TMA are seen: other accesses to global memory are ordinary ones of the host.
void require_grid_ahead_has_ended() {
  if (Block::current().cluster().dependent() && !Block::thread().waited_for_grid) {
    fault("TMA before griddepcontrol.wait, while the kernel ahead may still write");
  }
}

// [to], [map, {column, row}], [barrier] {, mask}
void load(const Instruction& instruction) {
  require_grid_ahead_has_ended();
  Block& own = Block::current();
  Cluster& cluster = own.cluster();
  const ClusterAddress to = cluster_address(instruction.get<std::uint32_t>(0));
  const ClusterAddress barrier = cluster_address(instruction.get<std::uint32_t>(4));
  if (to.block != barrier.block) fault("a TMA load to one block and its barrier in another");
  require_aligned_box(to.address);
  BulkLoad load{.map = tiled(instruction.get<const CUtensorMap*>(1)),
                .place = {instruction.get<std::int32_t>(2), instruction.get<std::int32_t>(3)},
                .to = to.address,
                .barrier = barrier.address,
                .target = to.block,
                .by = &Block::thread()};
  if (!instruction.has("multicast")) {
    cluster.start(load);
    return;
  }
  const auto mask = static_cast<std::uint32_t>(instruction.get<std::uint16_t>(5));
  if (mask == 0 || mask >> cluster.size() != 0) fault("a multicast to blocks that are not there");
  for (unsigned rank = 0; rank < cluster.size(); ++rank) {
    if ((mask >> rank & 1U) == 0) continue;
    load.target = &cluster.block(rank);
    cluster.start(load);
  }
}

// [map, {column, row}], [from]
void store(const Instruction& instruction) {
  require_grid_ahead_has_ended();
  Block& block = Block::current();
  const auto from = instruction.get<std::uint32_t>(3);
  require_aligned_box(from);
  const BulkStore store{
      .map = tiled(instruction.get<const CUtensorMap*>(0)),
      .place = {instruction.get<std::int32_t>(1), instruction.get<std::int32_t>(2)},
      .from = from,
      .box = {}};
  constexpr std::size_t chunk = 16;
  for (std::size_t i = 0; i < store.map.box_bytes(); i += chunk) {
    const std::byte* const at = block.shared().pointer(from + static_cast<std::uint32_t>(i), chunk);
    block.shared().async_proxy().reads(at, chunk, "a TMA store");
  }
  Block::thread().stores.issue(store, block.shared(), block.cluster().eager());
}

}  // namespace

bool execute_bulk(const Instruction& instruction) {
  Block& block = Block::current();
  BulkStores& stores = Block::thread().stores;
  if (instruction.name() == "prefetch.tensormap") {
    tiled(instruction.get<const CUtensorMap*>(0));
  } else if (instruction.starts_with(
                 "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx")) {
    load(instruction);
  } else if (instruction.name() == "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group") {
    store(instruction);
  } else if (instruction.name() == "cp.async.bulk.commit_group") {
    stores.commit();
  } else if (instruction.starts_with("cp.async.bulk.wait_group")) {
    stores.wait(static_cast<std::size_t>(instruction.integer(0)), !instruction.has("read"),
                block.shared());
  } else {
    return false;
  }
  return true;
}

}  // namespace ridgebench::emulator
