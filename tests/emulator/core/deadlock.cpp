// The message about threads that wait for ever.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "tests/emulator/core/text.hpp"
#include "tests/emulator/hopper/cluster.hpp"

namespace ridgebench::emulator {

std::string Cluster::waits_for(const Thread& thread) {
  std::string what = fmt::format("waits at {} ({})", thread.waits_at, text(thread.where));
  switch (thread.state) {
    case State::at_barrier:
      return fmt::format("{}, barrier {}, for threads that do not come", what, thread.barrier);
    case State::together:
      return what + " for threads that do not come";
    case State::polling:
      return fmt::format("{} for {}", what,
                         thread.block->mbarriers().text(thread.poll.barrier, thread.poll.parity));
    default:
      return what;
  }
}

// Threads of a block that wait for the same event share an entry.
void Cluster::report_deadlock() {
  struct Group {
    const Thread* first;
    unsigned others;
  };
  std::map<std::pair<unsigned, std::string>, Group> groups;
  for (const auto& block : blocks_) {
    const Running running(block.get(), nullptr);
    for (const auto& thread : block->threads()) {
      if (thread->state == State::done) continue;
      auto [group, is_new] = groups.try_emplace({block->rank(), waits_for(*thread)},
                                                Group{.first = thread.get(), .others = 0});
      if (!is_new) ++group->second.others;
    }
  }
  std::string all;
  for (const auto& [key, group] : groups) {
    all += fmt::format("{}{}{}{}", all.empty() ? "deadlock: " : "; ",
                       group.first->block->place(group.first), key.second,
                       group.others == 0 ? "" : fmt::format(", as do {} others", group.others));
  }
  throw Fault(all);
}

}  // namespace ridgebench::emulator
