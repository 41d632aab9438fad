// A step on a device: its tensors in one allocation, and a launch of a technique for each launch of
// the program, in its order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/measure/problem.hpp"
#include "harness/step/arena.hpp"
#include "harness/step/step_program.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

struct TechniqueRequest {
  std::map<std::string, std::string> named = {};  // technique of an operation
  bool library = false;  // libraries, for operations that one serves; else techniques of the suite
};

// The techniques that may compute a launch: the named one, or all that serve its shape. Throws
// UsageError for a name that the operation does not have, and Unsupported if none serves.
std::vector<const Implementation*> serving(const StepLaunch& launch,
                                           const TechniqueRequest& request, const Device& device);
// Throws the same for the launches of a program, and UsageError for a named operation without one.
void require_techniques(const StepProgram& program, const TechniqueRequest& request,
                        const Device& device);

// The memory of a program by the arena's own counts.
struct Placement {
  std::vector<std::int64_t> offsets;   // of the tensors, in bytes; of a part, where it begins
  std::vector<LiveBytes> at_launches;  // what lives while each launch runs
  std::int64_t peak_bytes = 0;
  std::int64_t extent_bytes = 0;
};
Placement place(const StepProgram& program);

// The result of comparing the outputs of every launch with the reference of its operation.
struct ChainCheck {
  std::int64_t tensors = 0;   // that were compared
  std::int64_t elements = 0;  // of them
  double error = 0;           // largest, over the tolerance of its element
  std::string wrong = {};     // which launch is wrong, and by how much; empty: none

  [[nodiscard]] bool passed() const { return wrong.empty(); }
};

class Chain {
 public:
  // Chooses techniques, prepares them and binds all launches. A technique that is not named is the
  // fastest, by a few launches, of those that serve the operation, tuned and naive ones only where
  // no other one serves. Throws UsageError for a name that the operation does not have, Unsupported
  // if no technique serves a launch, and OutOfMemory.
  Chain(Device& device, StepProgram program, Placement placement, const TechniqueRequest& request,
        std::uint64_t seed);
  // The same with the placement of place().
  Chain(Device& device, StepProgram program, const TechniqueRequest& request, std::uint64_t seed);

  [[nodiscard]] const StepProgram& program() const { return program_; }
  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] std::span<const Launch> launches() const { return launches_; }
  [[nodiscard]] const Problem& problem(std::size_t launch) const { return bound_[launch]->problem; }
  [[nodiscard]] const Implementation& implementation(std::size_t launch) const {
    return *bound_[launch]->implementation;
  }
  // The address of a tensor.
  [[nodiscard]] void* data(TensorId tensor) const;
  // The bytes that these launches read and write; bytes that several of them touch count once.
  [[nodiscard]] std::int64_t touched_bytes(std::span<const std::size_t> launches) const;

  // Gives every tensor that has values its values again.
  void fill();
  // Fills, runs each launch once, and compares rows of each output with the reference of the
  // operation on the very inputs that the launch met.
  ChainCheck check(std::uint64_t seed);
  // Sum over the tensors of a kind: equal for equal bits.
  [[nodiscard]] std::uint64_t checksum(const std::string& kind) const;

 private:
  // An operation on one shape, with the technique that computes it. Launches share it.
  struct Bound {
    Problem problem;
    const Implementation* implementation;
    Plan plan;
  };
  using Key = std::pair<std::string, std::string>;  // operation, shape

  Bound choose(const StepLaunch& launch, const TechniqueRequest& request) const;
  [[nodiscard]] std::vector<void*> addresses(const StepLaunch& launch,
                                             const Problem& problem) const;
  [[nodiscard]] Launch bind(const Bound& bound, const std::vector<void*>& operands) const;
  void fill(const StepTensor& tensor, void* out) const;
  void check_launch(std::size_t launch, std::uint64_t seed, ChainCheck& result);

  Device* device_;
  StepProgram program_;
  std::uint64_t seed_;
  Placement placement_;
  std::shared_ptr<void> memory_;
  std::map<Key, std::unique_ptr<Bound>> chosen_;
  std::vector<const Bound*> bound_;  // of each launch
  std::vector<Launch> launches_;
};

}  // namespace ridgebench
