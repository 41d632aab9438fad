// Measures one case in the phases prepare, bind, verify, sample and judge.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/bound_case.hpp"
#include "harness/measure/sampler.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

// The flag of a row whose inputs are zeros, with which a device draws less power.
inline constexpr const char* kZeroInputs = "zero_inputs";

// State that the cases of one device share.
class Measurer {
 public:
  Measurer(Device& device, Fill fill, std::uint64_t seed);

  // `seconds` is the case's share of the budget. The sampling ends when `stop` returns true. A
  // failure of the case becomes the record's status and reason. Throws Interrupted, and DeviceError
  // if the device is lost.
  Record measure(const Case& c, double seconds, const std::function<bool()>& stop);

  // Seconds of its share that the warm-up and the samples of the last case took.
  [[nodiscard]] double sampling_s() const { return sampling_s_; }

  // Makes later samples take turns with other processes.
  void take_turns(Turns& turns) { turns_ = &turns; }

  // Adds a ceiling of an earlier run as a denominator of later cases. measure() adds its own.
  void add_ceiling(const Record& record);

 private:
  [[nodiscard]] Record described(const Case& c) const;
  void run_phases(Record& record, const Case& c, const Problem& problem, double seconds,
                  const std::function<bool()>& stop);
  // Returns a reason if an operand changed that launches only read. `sums` are those of the first
  // sets at an earlier moment, and become those of all sets now.
  std::optional<std::string> changed_input(std::vector<std::uint64_t>& sums);
  struct Affordable {
    std::int64_t sets;
    std::int64_t launches;  // that were timed for it
  };
  Affordable time_for_sets(const Launch& launch, std::int64_t wanted, double seconds);
  Samples sample(const BoundCase& bound, Probes& probes, std::int64_t launched, double seconds,
                 const std::function<bool()>& stop);
  // Adds the flags of a rotation that the caches may serve.
  void flag_rotation(Record& record, const Problem& problem) const;
  // Adds what the device says of a launch that has run before.
  void describe_launch(Record& record, const Launch& launch);
  // The row of a kernel becomes suspect if it takes longer on new inputs, or if its process claims
  // less than this one saw.
  static void doubt_time(Record& record, std::optional<double> seen_s);
  void judge_samples(Record& record, const BoundCase& bound, const Samples& samples) const;

  Device* device_;
  Fill fill_;
  std::uint64_t seed_;
  Buffers buffers_;
  OutputCheck check_;
  Roofs roofs_;
  Turns* turns_ = nullptr;
  double sampling_s_ = 0;
  std::optional<Engine> capped_engine_;  // of the last case, if the power limit slowed it down
};

// Adds the denominators of a verified case, its bound and its flags. A case that exceeds a physical
// limit becomes invalid and loses its time.
void judge(Record& record, const Case& c, const Problem& problem, const Roofs& roofs);

}  // namespace ridgebench
