// Where a producer or a consumer is in a ring of stages, and how often it has gone round.
#pragma once

namespace ridgebench::cuda {

// The parity says which phase of a stage's barriers is meant (mbarrier.cuh): a consumer waits for
// "full" with it, a producer for "empty" with its opposite, so that the first trip finds all stages
// empty.
template <int kStages>
struct PipelineState {
  int stage = 0;
  unsigned parity = 0;

  constexpr void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1U;
    }
  }
};

}  // namespace ridgebench::cuda
