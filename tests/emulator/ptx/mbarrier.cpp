// mbarrier and the fences. Source: PTX ISA, "mbarrier", "membar / fence".
#include "tests/emulator/core/block.hpp"
#include "tests/emulator/hopper/cluster.hpp"
#include "tests/emulator/hopper/cluster_address.hpp"
#include "tests/emulator/ptx/ptx.hpp"

namespace ridgebench::emulator {
namespace {

void arrive(const Instruction& instruction, std::uint32_t address) {
  Block& own = Block::current();
  const bool far = instruction.has("shared::cluster");
  const ClusterAddress at = far ? cluster_address(address) : ClusterAddress{&own, address};
  if (instruction.has("expect_tx"))
    at.block->mbarriers().expect(at.address, instruction.integer(2));
  own.cluster().made_progress();
  const Thread* const afar = at.block == &own ? nullptr : &Block::thread();
  if (at.block->mbarriers().arrive(at.address, afar)) {
    at.block->phase_ended(at.address);
  }
  if (own.cluster().hesitates()) own.yield(instruction.where());
}

// Yields once where it would fail, and then fails: the caller must retry.
void try_wait(const Instruction& instruction, std::uint32_t address) {
  Block& block = Block::current();
  const auto parity = static_cast<unsigned>(instruction.integer(2));
  if (parity > 1) fault("a parity is 0 or 1");
  const bool ended = block.mbarriers().at(address).ended(parity);
  if (ended) {
    block.mbarriers().seen(address);
    block.cluster().made_progress();
  } else {
    block.poll({address, parity}, instruction.name(), instruction.where());
  }
  instruction.set(0, ended ? 1 : 0);
}

}  // namespace

bool execute_mbarrier(const Instruction& instruction) {
  Block& block = Block::current();
  if (!instruction.has("b64") || !instruction.has("shared")) return false;
  if (instruction.part(1) == "init") {
    block.mbarriers().init(instruction.get<std::uint32_t>(0), instruction.integer(1),
                           Block::thread().number);
  } else if (instruction.part(1) == "arrive" &&
             instruction.argument(0).kind == Argument::Kind::sink) {
    arrive(instruction, instruction.get<std::uint32_t>(1));
  } else if (instruction.starts_with("mbarrier.try_wait.parity.")) {
    try_wait(instruction, instruction.get<std::uint32_t>(1));
  } else {
    return false;
  }
  return true;
}

bool execute_fence(const Instruction& instruction) {
  Block& block = Block::current();
  const unsigned thread = Block::thread().number;
  const bool proxy = instruction.starts_with("fence.proxy.async");
  if (!proxy && !instruction.starts_with("fence.mbarrier_init.release.cluster")) return false;
  block.mbarriers().publish(thread);
  if (proxy) block.shared().async_proxy().fence(thread);
  return true;
}

}  // namespace ridgebench::emulator
