// Probes: launches on inputs that a kernel has not met, between the samples of its case. A kernel
// that answers from memory, because it met its inputs before, gives itself away by its answer or by
// its time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/probing/new_inputs.hpp"
#include "harness/measure/verifying/output_check.hpp"

namespace ridgebench {

// Shortest time of the launches of a probe together.
inline constexpr double kProbe_s = 1e-3;
// The flag of a case whose reference is too expensive for all of its probes.
inline constexpr const char* kFewProbes = "few_probes";
// The flag of a case with an output whose reference hardly moves when all inputs of a probe are
// new.
inline constexpr const char* kFixedAnswer = "fixed_answer";

// Why a case is wrong whose kernel works in a thread, or in another stream.
inline constexpr const char* kWorkGoesOn =
    "the output changed after the launches had ended: the kernel returns before its work is done";

class Probes {
 public:
  // Launches the sets once each, and returns seconds per launch.
  using Launcher = std::function<double(NewInputs::Sets)>;

  // `sets` are all sets of the case, the last that `buffers` allocated. The seed draws the probes.
  // `input_copies` hold inputs in host memory while check() runs; the rows share them.
  Probes(Device& device, Buffers& buffers, const Case& c, const Problem& problem,
         std::span<const BufferSet> sets, std::uint64_t seed,
         std::vector<HostBuffer>& input_copies);

  // True if a probe is due after that number of samples, and if all were taken.
  [[nodiscard]] bool due(std::size_t samples) const;
  [[nodiscard]] bool all_taken() const { return taken_.size() >= wanted_; }

  // Takes the next probe. `launch_s`: seconds that a launch takes.
  void take(double launch_s, const Launcher& launcher);

  // Compares the time of a launch on new inputs with the median sample, and takes more probes while
  // those so far are slower: three fresh ones at least, then eight more. Between these, launches
  // after writes of the old inputs decide whether it was the writing.
  void compare_times(double median_s, const Launcher& launcher);

  // True if the outputs of the last set still change two launches after the last batch.
  [[nodiscard]] bool work_goes_on(double launch_s) const;

  // Why the outputs are wrong, by what the probes saw when they launched.
  [[nodiscard]] std::optional<std::string> seen() const;

  // Compares the outputs with the references of the new inputs, and adds the comparisons to
  // `result`. The buffers hold the outputs of the old inputs. Returns why the outputs are wrong.
  std::optional<std::string> check(Verification& result);

  // True if fewer probes were compared than the case should have, or none at all.
  [[nodiscard]] bool few() const {
    const std::size_t least = case_->control ? 0 : 1;
    return found_.compared < static_cast<std::int64_t>(std::max(least, wanted_));
  }

  // True of a user's kernel if check() compared fresh probes, and in none of them the reference of
  // some output moved: a kernel that keeps this output passes.
  [[nodiscard]] bool fixed_answer() const { return std::ranges::count(moved_, false) > 0; }

 private:
  struct Probe {
    std::unique_ptr<NewInputs> inputs;
    std::size_t set = 0;  // whose outputs were copied
    std::vector<std::int64_t> rows;
    std::vector<HostBuffer> outputs;
    bool unwritten = false;  // an output held NaN
    bool late = false;       // an output changed after the launches had ended
    bool kept = false;       // launches on the old inputs left what those on the new ones wrote
  };

  void take(Novelty novelty, double launch_s, const Launcher& launcher);
  // Sums the outputs of these sets, and launches another set, before a probe of a user's kernel;
  // returns 0 for a kernel of the suite.
  std::uint64_t checksum_before(NewInputs::Sets chosen, const Launcher& launcher) const;
  // Launches, and counts it as one after a write. Where the caches do not serve the samples either,
  // they are emptied before: a streaming store waits for the lines of its output that the write
  // left there, and an honest ReLU took 1.4 times as long.
  double launch_after_write(NewInputs::Sets chosen, const Launcher& launcher);
  void copy_rows(Probe& probe) const;
  [[nodiscard]] std::uint64_t checksum(NewInputs::Sets chosen) const;
  // True if two launches on the same inputs leave the same bits.
  [[nodiscard]] bool repeats_bits() const;
  [[nodiscard]] bool holds_nan(NewInputs::Sets chosen) const;
  // True if the outputs of a set, whose checksum was `before`, change while some launches could
  // run.
  [[nodiscard]] bool changes_within(NewInputs::Sets set, std::uint64_t before,
                                    double launch_s) const;
  // Times launches on the old inputs, after the steps that a fresh probe takes. But the outputs get
  // the values that they hold: a kernel that returns where it finds its answer does so here.
  void time_old_inputs(const Launcher& launcher);
  std::optional<std::string> check_one(const Probe& probe, Verification& result);
  // True if a comparison with the references of the old inputs may show that further outputs move.
  [[nodiscard]] bool may_be_fixed(const Probe& probe) const;
  void note_moved(const std::vector<bool>& outputs);

  Device* device_;
  Buffers* buffers_;
  const Case* case_;
  const Problem* problem_;
  std::span<const BufferSet> sets_;
  std::mt19937_64 random_;
  std::size_t wanted_;
  std::size_t compared_;            // the first ones, with the reference
  std::vector<Novelty> kinds_;      // of the probes, in their order
  std::vector<std::size_t> after_;  // samples before each probe, ascending
  bool comparing_times_ = false;
  std::vector<Probe> taken_;
  Probed found_;
  std::vector<bool> moved_;  // by output, in any fresh probe; empty before the first comparison
  std::vector<HostBuffer>* input_copies_;
  std::vector<HostBuffer> saved_;  // old inputs while a probe has replaced them
  std::vector<HostBuffer> old_outputs_;
};

}  // namespace ridgebench
