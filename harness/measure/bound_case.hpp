// A technique that is prepared for a case and bound to buffer sets, and the checks of its outputs.
// Rows and duels share these phases: prepare, bind, check the first launch, check after the timing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/buffers.hpp"
#include "harness/measure/case.hpp"
#include "harness/measure/verifying/output_check.hpp"

namespace ridgebench {

// The reason of a case whose guard zones changed.
inline constexpr const char* kStrayWrite = "wrote outside its output";

class BoundCase {
 public:
  // Prepares the technique, unless it has `plan` already. Everything passed outlives this.
  BoundCase(const Case& c, const Problem& problem, Buffers& buffers, OutputCheck& check,
            Plan plan = nullptr);

  [[nodiscard]] const Case& row() const { return *case_; }
  [[nodiscard]] const Problem& problem() const { return *problem_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::span<const BufferSet> sets() const { return sets_; }
  // One launch for each set.
  [[nodiscard]] const std::vector<Launch>& rotation() const { return rotation_; }
  // The technique's choice for the case; empty if it has none.
  [[nodiscard]] std::optional<std::string> choice() const;
  // The bytes of a launch by the technique's model; empty if it has none.
  [[nodiscard]] std::optional<ModelTraffic> traffic() const;

  // Launches on the first set, whose outputs hold NaN, and compares them with the reference.
  // Returns why they are wrong.
  std::optional<std::string> check_first(Verification& result);
  // The same for all sets after the timing. `replaced`: other launches than the first ones of this
  // technique wrote the outputs, so that it launches again before the comparison. Else it launches
  // again after it, and the bits must not change.
  std::optional<std::string> check_after(Verification& result, bool replaced);

 private:
  friend void bind_cases(Buffers& buffers, std::span<BoundCase> cases, std::int64_t sets,
                         std::int64_t later);

  void bind_to(std::vector<BufferSet> sets);
  // Launches on all sets into outputs that hold NaN.
  void launch_again();
  [[nodiscard]] std::optional<std::string> stray_write();

  const Case* case_;
  const Problem* problem_;
  Buffers* buffers_;
  OutputCheck* check_;
  Plan plan_;
  std::vector<BufferSet> sets_;
  std::vector<Launch> rotation_;
};

// Binds techniques of one problem to the same `sets` buffer sets and fills the outputs with NaN.
// The arenas reserve memory for `later` sets.
void bind_cases(Buffers& buffers, std::span<BoundCase> cases, std::int64_t sets,
                std::int64_t later = 0);

// Returns the number of sets with which a launch of `launch_s` seconds can take kFewestSamples in
// `seconds`.
std::int64_t affordable_sets(double seconds, double launch_s);

}  // namespace ridgebench
