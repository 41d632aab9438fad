#include "harness/measure/bound_case.hpp"

#include <algorithm>
#include <utility>

#include "harness/device/isolated/remote_launch.hpp"
#include "harness/measure/sampler.hpp"

namespace ridgebench {

BoundCase::BoundCase(const Case& c, const Problem& problem, Buffers& buffers, OutputCheck& check,
                     Plan plan)
    : case_(&c), problem_(&problem), buffers_(&buffers), check_(&check), plan_(std::move(plan)) {
  const auto& prepare = c.implementation->prepare;
  if (!plan_ && prepare) plan_ = prepare(c.device->queue(), c.shape);
}

std::optional<std::string> BoundCase::choice() const {
  if (!case_->implementation->choice) return std::nullopt;
  return case_->implementation->choice(plan_);
}

std::optional<ModelTraffic> BoundCase::traffic() const {
  if (!case_->implementation->traffic) return std::nullopt;
  return case_->implementation->traffic(plan_, case_->device->machine(), case_->shape,
                                        case_->format);
}

void BoundCase::bind_to(std::vector<BufferSet> sets) {
  // A device may keep a graph of the launches at an address, so that new ones lie elsewhere.
  std::vector<Launch> rotation;
  rotation.reserve(sets.size());
  Queue& queue = case_->device->queue();
  for (const BufferSet& set : sets) {
    rotation.push_back(
        with_plan(plan_, case_->implementation->bind(queue, plan_, case_->shape, set)));
  }
  rotation_ = std::move(rotation);
  sets_ = std::move(sets);
}

void BoundCase::launch_again() {
  buffers_->reset();
  case_->device->run_each(rotation_);
}

std::optional<std::string> BoundCase::stray_write() {
  if (buffers_->guards_intact()) return std::nullopt;
  return kStrayWrite;
}

std::optional<std::string> BoundCase::check_first(Verification& result) {
  case_->device->run(rotation_.front());
  if (auto wrong = check_->before_timing(*case_, *problem_, sets_.front(), result)) return wrong;
  return stray_write();
}

std::optional<std::string> BoundCase::check_after(Verification& result, bool replaced) {
  if (auto stray = stray_write()) return stray;
  // The timed launches of an operand that is updated replaced it again and again. The reference is
  // that of one launch.
  replaced = replaced || problem_->in_place();
  if (replaced) launch_again();
  auto wrong = check_->after_timing(*case_, *problem_, sets_, result);
  if (!wrong && !replaced) {
    wrong = check_->repeats(*case_, *problem_, sets_, [this] { launch_again(); });
  }
  return wrong ? wrong : stray_write();
}

void bind_cases(Buffers& buffers, std::span<BoundCase> cases, std::int64_t sets,
                std::int64_t later) {
  const std::vector<BufferSet> all =
      buffers.allocate(cases.front().problem().operands, sets, later);
  for (BoundCase& bound : cases) bound.bind_to(all);
  buffers.reset();
}

std::int64_t affordable_sets(double seconds, double launch_s) {
  return static_cast<std::int64_t>(
      std::clamp(seconds / (kFewestSamples * launch_s), 1.0, static_cast<double>(kMaxSets)));
}

}  // namespace ridgebench
