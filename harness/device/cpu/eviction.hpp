// Empties the caches by reading.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ridgebench {

// Reads the words by `threads` threads of OpenMP's team, a part by each.
void read_by_team(std::span<const std::uint64_t> words, int threads);

// Reads them by as many threads that end with the call, on one of the processors each. Idle threads
// of a team would disturb a process that launches next.
void read_by_new_threads(std::span<const std::uint64_t> words, int threads,
                         const std::vector<int>& processors);

}  // namespace ridgebench
