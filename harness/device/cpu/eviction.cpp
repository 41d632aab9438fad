#include "harness/device/cpu/eviction.hpp"

#include <algorithm>
#include <thread>

#include "harness/device/cpu/threads.hpp"

namespace ridgebench {
namespace {

// The compiler must keep the reads, though no code uses their sum.
void keep_reads(std::uint64_t sum) { asm volatile("" : : "r"(sum)); }

}  // namespace

void read_by_team(std::span<const std::uint64_t> words, int threads) {
  std::uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
  for (const std::uint64_t word : words) sum += word;
  keep_reads(sum);
}

void read_by_new_threads(std::span<const std::uint64_t> words, int threads,
                         const std::vector<int>& processors) {
  const std::size_t part = words.size() / static_cast<std::size_t>(threads) + 1;
  std::vector<std::thread> readers;
  for (std::size_t first = 0; first < words.size(); first += part) {
    readers.emplace_back([&processors, index = readers.size(),
                          own = words.subspan(first, std::min(part, words.size() - first))] {
      allow_processors({processors[index % processors.size()]});
      std::uint64_t sum = 0;
      for (const std::uint64_t word : own) sum += word;
      keep_reads(sum);
    });
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace ridgebench
