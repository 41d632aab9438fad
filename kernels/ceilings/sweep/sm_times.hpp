// The same work on every SM of a GPU, timed on each: the chains of fma_peak (fma.hpp), in one block
// an SM. It shows an SM that is slower than the others, and is not a roof.
#pragma once

#include "kernels/ceilings/fma.hpp"

namespace ridgebench {

inline constexpr std::int64_t kSmTimesThreads = 1024;  // of a block, the most it can have

namespace sm_times_detail {

inline Operation sm_times() {
  Operation op = fma_detail::fma_peak();
  op.name = "sm_times";
  op.shapes = [](Profile profile, Pace, const Machine& machine) -> std::vector<Shape> {
    if (machine.compute_capability == 0 || !at_least_standard(profile)) return {};
    return {Shape(
        {{"n", kFmaChains * kSmTimesThreads * machine.units}, {"iterations", kWaveIterations}})};
  };
  op.ceiling->sweep = true;
  return op;
}

}  // namespace sm_times_detail

inline const RegisterOperation sm_times{sm_times_detail::sm_times()};

}  // namespace ridgebench
