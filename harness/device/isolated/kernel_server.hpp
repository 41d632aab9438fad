// Answers the commands of KernelProcess with what the loaded file has registered.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/device/isolated/shared_memory.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

class KernelServer {
 public:
  // Entries of the registry from now on belong to the file.
  KernelServer();

  // The functions below throw what the file's code throws.

  // The value of a function of the file. `command` names it as `do`.
  nlohmann::json answer(const nlohmann::json& command);
  // Maps an arena: its number, its bytes, and whether this process writes into it. Takes the
  // descriptor.
  void map(std::span<const std::uint64_t> arena, int descriptor);
  void unmap(std::uint64_t arena) { arenas_.erase(arena); }
  // Maps the pages of an arena's first bytes: its number, bytes.
  void populate(std::span<const std::uint64_t> arena) const;
  // Keeps what the file's code throws for the next command.
  void bind(const nlohmann::json& command);
  // Throws what bind() kept.
  void check_bound();
  void run(std::span<const std::uint64_t> launches);
  // Frees launches and plans.
  void release(std::span<const std::uint64_t> numbers);
  // Seconds of the launches of MessageKind::time.
  double time(std::span<const std::uint64_t> batch);

 private:
  // The other process numbers the launches, from 1 on.
  static constexpr std::uint64_t kFirstPlan = std::uint64_t{1} << 40U;
  using Json = nlohmann::json;

  [[nodiscard]] Json describe() const;
  [[nodiscard]] Json of_operation(const Json& command) const;
  static Json of_shape(const Operation& operation, const std::string& what, const Shape& shape,
                       const Json& command);
  [[nodiscard]] const Implementation& implementation(const Json& command) const;
  Json of_implementation(const Json& command);
  Json reference(const Operation& operation, const Json& command) const;
  Json prepare(const Implementation& implementation, const Json& command);
  Json named_plans(const Implementation& implementation);
  Json use_threads(const Json& command);
  // Opens the GPU whose kernels this process launches from now on.
  Json open(const Json& command);
  [[nodiscard]] Json of_launch(const Json& command);
  [[nodiscard]] Queue& queue();
  [[nodiscard]] std::span<const Launch> rotation_of(std::span<const std::uint64_t> batch);
  [[nodiscard]] Plan plan(const Json& command) const;
  std::uint64_t keep(Plan plan);
  // {arena, offset} as an address.
  [[nodiscard]] std::byte* address(const Json& place) const;

  std::size_t first_operation_;
  std::size_t first_implementation_;
  std::unique_ptr<Queue> queue_;    // of a host
  std::unique_ptr<Device> device_;  // a GPU; null: the host
  std::map<std::uint64_t, MappedArena> arenas_;
  std::unordered_map<std::uint64_t, Plan> plans_;
  std::unordered_map<std::uint64_t, Launch> launches_;
  std::map<std::vector<std::uint64_t>, std::vector<Launch>> rotations_;  // by their numbers
  std::uint64_t last_plan_ = kFirstPlan;
  std::exception_ptr bind_failure_;
};

}  // namespace ridgebench
