#include <algorithm>
#include <array>
#include <random>

#include "harness/measure/duel/blocks.hpp"
#include "harness/measure/sampler.hpp"

namespace ridgebench {
namespace {

// Launches of each technique before the first block. They load the kernels, and show what a launch
// takes with the emptying of the caches.
constexpr int kColdWarmUp = 3;

class ColdLaunches {
 public:
  ColdLaunches(Device& device, const Launch& first, const Launch& second, const DuelLimits& limits)
      : device_(&device), launches_{&first, &second}, stop_(&limits.stop) {}

  // Adds a launch of the block's technique to the block.
  void time(DuelBlock& block) const {
    if (*stop_ && (*stop_)()) throw Interrupted();
    block.add(device_->time_cold(*launches_.at(block.side)), 1);
  }

 private:
  Device* device_;
  std::array<const Launch*, 2> launches_;
  const std::function<bool()>* stop_;
};

}  // namespace

DuelTimes time_cold_duel(Device& device, const Launch& first, const Launch& second,
                         const DuelLimits& limits) {
  const ColdLaunches cold(device, first, second, limits);
  const double begin_s = device.now_s();
  const auto spent_s = [&] { return device.now_s() - begin_s; };
  DuelBlock untimed{.side = 0};
  for (int i = 0; i < 2 * kColdWarmUp; ++i) {
    untimed.side = static_cast<std::size_t>(i % 2);
    cold.time(untimed);
  }
  const double each_s = spent_s() / static_cast<double>(untimed.launches);
  const double wanted = double{kShortQuads} * double{kBlocksOfAQuad} * each_s;
  const auto launches = static_cast<int>(std::clamp(
      wanted > 0 ? (limits.seconds - spent_s()) / wanted : 1, 1.0, double{kColdLaunches}));
  Scale scale(launches * untimed.launch_s());
  std::mt19937_64 random(limits.seed);
  for (std::int64_t quad = 0; quad < kShortQuads && (quad == 0 || spent_s() < limits.seconds);
       ++quad) {
    for (const std::size_t side : draw_quad(random)) {
      DuelBlock& block = *scale.add(side);
      for (int i = 0; i < launches; ++i) cold.time(block);
    }
  }
  return {.short_scale = scale.times(kBlocksOfAQuad)};
}

}  // namespace ridgebench
