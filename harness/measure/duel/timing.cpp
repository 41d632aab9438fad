#include "harness/measure/duel/timing.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "harness/base/ratio.hpp"
#include "harness/measure/duel/blocks.hpp"
#include "harness/measure/sampler.hpp"

namespace ridgebench {
namespace {

// A long block is a sequence of batches of this length, so that the program can stop within one.
constexpr double kLongBatch_s = 0.1;
// Share of the time that the short scale gets where power does not settle slowly.
constexpr double kShortShare = 0.7;
// A warm-up batch of each technique, at least this often: the first batch sizes the next.
constexpr int kWarmUpRounds = 2;
constexpr int kCopies = 3;
// Largest share by which the dropped part of a long block is longer than planned: 0.1 s, which is
// several periods of a power cap.
constexpr double kSpread = 1.0 / 3;

// Starts each batch before the batch ahead ends, so that the device never idles.
class Pipeline {
 public:
  Pipeline(Device& device, std::span<const Launch> first, std::span<const Launch> second)
      : device_(&device), sets_(first.size()) {
    // Up to two rotations, from any set on, are then in one piece. A longer batch is a number of
    // whole rotations.
    for (int copy = 0; copy < kCopies; ++copy) {
      launches_[0].insert(launches_[0].end(), first.begin(), first.end());
      launches_[1].insert(launches_[1].end(), second.begin(), second.end());
    }
  }

  // Starts a batch of about `seconds` of the block's technique, and adds it to the block when it is
  // done. Without a block the times only size later batches.
  void start(std::size_t side, double seconds, DuelBlock* block) {
    const std::int64_t wanted = launches_in(side, seconds);
    const auto sets = static_cast<std::int64_t>(sets_);
    const bool whole = wanted > (kCopies - 1) * sets;
    const std::int64_t repeats = whole ? (wanted + sets - 1) / sets : 1;
    const std::size_t count = whole ? sets_ : static_cast<std::size_t>(wanted);
    const std::span<const Launch> part =
        std::span<const Launch>(launches_.at(side)).subspan(whole ? 0 : next_, count);
    if (!whole) next_ = (next_ + count) % sets_;
    auto started = device_->start_batch(part, repeats);
    finish();
    running_ = std::move(started);
    side_ = side;
    block_ = block;
    launched_ = repeats * static_cast<std::int64_t>(count);
  }

  // Waits for the batch that runs.
  void finish() {
    if (!running_) return;
    const Timing timing = running_->wait();
    running_.reset();
    launch_s_.at(side_) = timing.seconds / static_cast<double>(launched_);
    if (block_ == nullptr) return;
    block_->end_s = device_->now_s();
    if (block_->launches == 0) block_->begin_s = block_->end_s - timing.seconds;
    block_->add(timing, launched_);
  }

 private:
  [[nodiscard]] std::int64_t launches_in(std::size_t side, double seconds) const {
    if (launch_s_.at(side) <= 0) return 1;
    return std::max<std::int64_t>(1, std::llround(std::ceil(seconds / launch_s_.at(side))));
  }

  Device* device_;
  std::size_t sets_;
  std::array<std::vector<Launch>, 2> launches_;  // kCopies rotations
  std::array<double, 2> launch_s_{};             // of the last batch
  std::size_t next_ = 0;                         // set; both techniques share the rotation
  std::unique_ptr<RunningBatch> running_;
  std::size_t side_ = 0;
  DuelBlock* block_ = nullptr;
  std::int64_t launched_ = 0;
};

// The phases of a duel.
class Quads {
 public:
  Quads(Device& device, Pipeline& pipeline, const DuelLimits& limits)
      : device_(&device), pipeline_(&pipeline), limits_(&limits), random_(limits.seed) {}

  void warm_up() {
    for (int i = 0; i < kWarmUpRounds || seconds() < limits_->warm_up_s; ++i) {
      for (const std::size_t side : {0U, 1U}) start(side, kShortBlock_s, nullptr);
    }
  }

  // Adds up to `quads` quads, one at least, whose first block begins before `end_s`.
  void measure(Scale& scale, std::int64_t quads, double end_s, double block_s) {
    for (std::int64_t quad = 0; quad < quads && (quad == 0 || seconds() < end_s); ++quad) {
      for (const std::size_t side : draw_quad(random_)) {
        measure_block(scale.add(side), block_s);
      }
    }
  }

  // Seconds since the duel began.
  [[nodiscard]] double seconds() const { return device_->now_s() - begin_s_; }

 private:
  void start(std::size_t side, double seconds, DuelBlock* block) {
    if (limits_->stop && limits_->stop()) throw Interrupted();
    pipeline_->start(side, seconds, block);
  }

  void measure_block(DuelBlock* block, double block_s) {
    if (block_s <= kShortBlock_s) return start(block->side, block_s, block);
    // Without this spread the ends of all blocks could meet a clock that oscillates in one phase.
    const double spread = 1 + kSpread * std::uniform_real_distribution<>()(random_);
    const double dropped_s = block_s * kDropped_s / kLongBlock_s;
    const auto batches_in = [](double s) { return std::max(1.0, std::round(s / kLongBatch_s)); };
    const double dropped = batches_in(dropped_s);
    const double kept = batches_in(block_s - dropped_s);
    for (int i = 0; i < dropped; ++i) start(block->side, spread * dropped_s / dropped, nullptr);
    for (int i = 0; i < kept; ++i) start(block->side, (block_s - dropped_s) / kept, block);
  }

  Device* device_;
  Pipeline* pipeline_;
  const DuelLimits* limits_;
  std::mt19937_64 random_;
  double begin_s_ = device_->now_s();
};

}  // namespace

DuelPlan plan_duel(double seconds, bool settles) {
  constexpr double short_s = kShortQuads * kBlocksOfAQuad * kShortBlock_s;
  constexpr double quad_s = kBlocksOfAQuad * kLongBlock_s;
  // A quad has two ratios.
  constexpr std::int64_t fewest = (std::int64_t{kFewestRatios} + 1) / 2;
  if (!settles) {
    const double left_s = (1 - kShortShare) * seconds;
    return {kShortShare * seconds, kLongQuads, std::min(kLongBlock_s, left_s / kLongQuads / 4)};
  }
  const auto quads = std::min(kLongQuads, static_cast<std::int64_t>((seconds - short_s) / quad_s));
  if (quads < fewest) return {seconds, 0, kLongBlock_s};
  return {seconds - static_cast<double>(quads) * quad_s, quads, kLongBlock_s};
}

DuelTimes time_duel(Device& device, std::span<const Launch> first, std::span<const Launch> second,
                    const DuelLimits& limits) {
  Pipeline pipeline(device, first, second);
  Quads phases(device, pipeline, limits);
  phases.warm_up();
  const double warm_s = phases.seconds();
  const DuelPlan plan = plan_duel(limits.seconds - limits.warm_up_s, limits.settles);
  Scale brief(kShortBlock_s);
  phases.measure(brief, kShortQuads, warm_s + plan.short_s, kShortBlock_s);
  Scale lasting(plan.long_block_s);
  phases.measure(lasting, plan.long_quads, warm_s + limits.seconds, plan.long_block_s);
  pipeline.finish();
  DuelTimes times{.short_scale = brief.times(kBlocksOfAQuad)};
  if (plan.long_quads > 0) {
    times.long_scale = lasting.times(2);
    times.long_scale->joules = {lasting.joules(device, 0), lasting.joules(device, 1)};
  }
  return times;
}

}  // namespace ridgebench
