#include "harness/device/isolated/kernels_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "harness/device/isolated/shared_memory.hpp"
#include "harness/device/isolated/wire.hpp"
#include "kernels/common/ceil_div.hpp"

namespace ridgebench {
namespace {

constexpr std::size_t kPartAlignment = 256;  // of what lies in the memory of results

std::size_t rounded_part(std::size_t bytes) { return round_up(bytes, kPartAlignment); }

}  // namespace

KernelsFile::KernelsFile(std::string file, LoadedKernels kernels)
    : file_(std::move(file)), kernels_(std::move(kernels)) {
  description_ = functions().description();
}

KernelProcess& KernelsFile::functions() {
  if (!functions_ || functions_->ended()) {
    functions_ = std::make_unique<KernelProcess>(file_, kernels_);
  }
  return *functions_;
}

nlohmann::json KernelsFile::value_of(const nlohmann::json& command) {
  std::string key;
  nlohmann::json::to_msgpack(command, key);
  const std::scoped_lock lock(mutex_);
  const auto known = values_.find(key);
  if (known != values_.end()) return known->second;
  return values_.emplace(std::move(key), functions().ask(command)).first->second;
}

// Inputs that the process can read already stay where they are; of all others it gets a copy.
void KernelsFile::reference(nlohmann::json command, std::span<const RowsOfSet> sets,
                            std::span<const std::size_t> elements) {
  const auto bytes_of = [&](const RowsOfSet& set, std::size_t i) {
    return elements[i] * static_cast<std::size_t>(info(set.in[i].format).storage_bytes);
  };
  std::size_t needed = 0;
  for (const RowsOfSet& set : sets) {
    needed += rounded_part(set.out.size_bytes());
    for (std::size_t i = 0; i < set.in.size(); ++i) {
      if (!shared_place(set.in[i].data)) needed += rounded_part(bytes_of(set, i));
    }
  }
  const std::scoped_lock lock(mutex_);
  if (needed > results_bytes_) {
    results_.reset();
    results_ = allocate_shared(needed, true);
    results_bytes_ = needed;
  }
  auto* free = static_cast<std::byte*>(results_.get());
  const auto take = [&](std::size_t bytes) {
    return std::exchange(free, free + rounded_part(bytes));
  };
  KernelProcess& process = functions();
  std::vector<const std::byte*> results;
  command["sets"] = nlohmann::json::array();
  for (const RowsOfSet& set : sets) {
    results.push_back(take(set.out.size_bytes()));
    nlohmann::json asked{{"rows", set.rows},
                         {"length", set.length},
                         {"elements", set.out.size()},
                         {"out", process.place_of(results.back())}};
    for (std::size_t i = 0; i < set.in.size(); ++i) {
      const void* data = set.in[i].data;
      if (!shared_place(data)) data = std::memcpy(take(bytes_of(set, i)), data, bytes_of(set, i));
      asked["inputs"].push_back({process.place_of(data), wire::of(FormatPair(set.in[i].format))});
    }
    command["sets"].push_back(std::move(asked));
  }
  process.ask(command);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    std::memcpy(sets[s].out.data(), results[s], sets[s].out.size_bytes());
  }
}

std::shared_ptr<KernelProcess> KernelsFile::launcher() {
  auto process = launcher_.lock();
  if (!process || process->ended()) {
    process = std::make_shared<KernelProcess>(file_, kernels_);
    launcher_ = process;
  }
  return process;
}

std::shared_ptr<KernelProcess> KernelsFile::launcher(const Queue& queue) {
  auto process = launcher();
  process->use(queue);
  return process;
}

}  // namespace ridgebench
