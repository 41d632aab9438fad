// Instructions of blocks and clusters. Source: PTX ISA, "bar", "setmaxnreg", "barrier.cluster",
// "mapa", "griddepcontrol".
#include "tests/emulator/core/block.hpp"

#include "tests/emulator/hopper/cluster.hpp"
#include "tests/emulator/hopper/cluster_address.hpp"
#include "tests/emulator/ptx/ptx.hpp"

namespace ridgebench::emulator {
namespace {

struct RegisterCount {
  std::int64_t count;
  bool increase;
};

// Called by all lanes of a warp.
void set_registers(const Lanes& lanes) {
  for (void* const lane : lanes) {
    if (lane == nullptr) fault("setmaxnreg in a warp of fewer than 32 threads");
  }
  const auto& own = *static_cast<const RegisterCount*>(lanes[0]);
  Block::current().registers().set(Block::thread().warp, own.count, own.increase);
}

}  // namespace

bool execute_block(const Instruction& instruction) {
  Block& block = Block::current();
  const auto number = [&](std::size_t argument) {
    return instruction.count() > argument ? static_cast<unsigned>(instruction.integer(argument))
                                          : 0U;
  };
  if (instruction.name() == "bar.sync") {
    block.barrier(number(0), number(1), instruction.name(), instruction.where());
  } else if (instruction.name() == "bar.arrive" && instruction.count() == 2) {
    block.arrive(number(0), number(1));
  } else if (instruction.name() == "setmaxnreg.inc.sync.aligned.u32" ||
             instruction.name() == "setmaxnreg.dec.sync.aligned.u32") {
    RegisterCount own{.count = instruction.integer(0), .increase = instruction.has("inc")};
    block.with_warp(kWholeWarp, instruction.name(), &own, set_registers, instruction.where());
  } else {
    return false;
  }
  return true;
}

bool execute_cluster(const Instruction& instruction) {
  Cluster& cluster = Block::current().cluster();
  if (instruction.name() == "mapa.shared::cluster.u32") {
    const auto rank = instruction.get<std::uint32_t>(2);
    if (rank >= cluster.size()) fault("mapa to a block that the cluster does not have");
    *instruction.out<std::uint32_t>(0) = map_address(instruction.get<std::uint32_t>(1), rank);
  } else if (instruction.name() == "mapa.u64") {
    const std::uint32_t own =
        Block::current().shared().address(instruction.get<const std::byte*>(1));
    Block& block = cluster.block(instruction.get<std::uint32_t>(2));
    *instruction.out<const std::byte*>(0) = block.shared().pointer(own, 1);
  } else if (instruction.starts_with("barrier.cluster.arrive")) {
    if (!instruction.has("relaxed")) cluster.release(&Block::thread());
    cluster.arrive();
  } else if (instruction.starts_with("barrier.cluster.wait")) {
    cluster.wait(instruction.where());
  } else if (instruction.name() == "griddepcontrol.wait") {
    // Kernels run one after another, so it does not wait. bulk.cpp checks that it came.
    Block::thread().waited_for_grid = true;
  } else {
    return instruction.name() == "griddepcontrol.launch_dependents";
  }
  return true;
}

}  // namespace ridgebench::emulator
