// Misuse of mbarriers and tensor maps, and the position in a ring of stages.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/matmul/hopper/mainloop.cuh"
#include "tests/emulator/fault_of.hpp"

namespace ridgebench::emulator {
namespace {

using cuda::Barrier;
using cuda::Swizzle;

enum class Misuse { none, not_initialised, twice, too_many, overwritten };

template <Misuse kMisuse>
__global__ void use_barrier() {
  extern __shared__ std::byte memory[];
  Barrier& barrier = *reinterpret_cast<Barrier*>(memory);
  if (kMisuse != Misuse::not_initialised) cuda::mbarrier_init(barrier, 2);
  if (kMisuse == Misuse::twice) cuda::mbarrier_init(barrier, 2);
  if (kMisuse == Misuse::overwritten) barrier = 0;
  cuda::mbarrier_arrive(barrier);
  if (kMisuse == Misuse::too_many) cuda::mbarrier_arrive_expect_tx(barrier, 8);
  cuda::mbarrier_arrive(barrier);
}

TEST(Mbarrier, MisuseIsAFault) {
  const auto of = [](auto kernel) { return fault_of([=] { kernel<<<1, 1, 16>>>(); }); };
  EXPECT_EQ(of(use_barrier<Misuse::none>), "");
  expect_fault(of(use_barrier<Misuse::not_initialised>), "no mbarrier was initialised");
  expect_fault(of(use_barrier<Misuse::twice>), "that is one already");
  expect_fault(of(use_barrier<Misuse::too_many>), "more often than the 2 times of its phase");
  expect_fault(of(use_barrier<Misuse::overwritten>), "was overwritten");
}

TEST(PipelineState, PhaseChangesWithEveryTrip) {
  cuda::PipelineState<3> state;
  for (int i = 0; i < 20; ++i, state.advance()) {
    EXPECT_EQ(state.stage, i % 3);
    EXPECT_EQ(state.phase, static_cast<unsigned>(i / 3 % 2));
  }
}

TEST(TensorMap, LimitsOfTheDriver) {
  alignas(16) std::array<float, 64> x{};
  EXPECT_THROW(cuda::tensor_map(x.data(), 2, 32, 257, 4, Swizzle::none), std::runtime_error);
  EXPECT_THROW(cuda::tensor_map(x.data(), 2, 32, 1, 6, Swizzle::none), std::runtime_error);
  EXPECT_THROW(cuda::tensor_map(x.data(), 2, 32, 1, 64, Swizzle::bytes_128), std::runtime_error);
  EXPECT_THROW(cuda::tensor_map(x.data(), 0, 32, 1, 32, Swizzle::none), std::runtime_error);
}

}  // namespace
}  // namespace ridgebench::emulator
