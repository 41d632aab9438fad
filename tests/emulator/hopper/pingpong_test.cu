// The ping-pong product: exact in every format and layout, whatever the order of the threads, and
// with one mistake each in the consumers' turns, in the count of arrivals and in the boxes of B.
#include <gtest/gtest.h>

#include "kernels/matmul/hopper/wgmma_pingpong.cuh"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/fault_of.hpp"
#include "tests/emulator/hopper/exact_products.hpp"

namespace ridgebench::emulator {
namespace {

using exact_products::expect_exact_products;
using exact_products::wrong_elements;

using Right = cuda::PingpongTile<128, 192>;

template <class T, class Out = T>
void expect_exact(Layout layout) {
  expect_exact_products<cuda::AllPingpongTiles, T, Out>(layout);
}

class Pingpong : public ::testing::Test {
 protected:
  void SetUp() override { set_compute_capability(90); }
  void TearDown() override {
    set_order(Order::ascending);
    set_multiprocessors(kMultiprocessors);
  }
};

TEST_F(Pingpong, MultipliesInEveryFormat) {
  expect_exact<Fp16>(Layout::nt);
  expect_exact<Tf32>(Layout::nt);
  expect_exact<Fp8E4m3, Bf16>(Layout::nt);
  expect_exact<Fp8E5m2, Bf16>(Layout::nt);
}

TEST_F(Pingpong, MultipliesInEveryLayout) {
  for (const Layout layout : {Layout::nn, Layout::tn}) expect_exact<Bf16>(layout);
}

TEST_F(Pingpong, MultipliesInEveryOrderOfTheThreads) {
  for (const Order order : {Order::ascending, Order::descending, Order::hesitant}) {
    SCOPED_TRACE(static_cast<int>(order));
    set_order(order);
    expect_exact<Bf16>(Layout::nt);
  }
}

// One block works off all twelve tiles, or five blocks 3, 3, 2, 2 and 2, or twelve one each.
TEST_F(Pingpong, MultipliesAnyNumberOfTilesOfABlock) {
  for (const int blocks : {1, 5, 12}) {
    SCOPED_TRACE(blocks);
    set_multiprocessors(blocks);
    const auto wrong = wrong_elements<cuda::PingpongTiles<Right>, Bf16, Bf16>(
        Layout::nt, {.tile = 0, .cluster = 1});
    EXPECT_EQ(wrong, 0);
  }
}

struct KeepsTheTurn : Right {
  struct Turns : cuda::ConsumerTurns {
    static void pass(int /*consumer*/, bool /*last_tile*/) {}
  };
};
struct WaitsForAFirstTurn : Right {
  struct Turns : cuda::ConsumerTurns {
    static void wait(int consumer, bool /*first_tile*/) {
      cuda::ConsumerTurns::wait(consumer, false);
    }
  };
};
struct TakesEveryTurn : Right {
  struct Turns {
    static void wait(int /*consumer*/, bool /*first_tile*/) {}
    static void pass(int /*consumer*/, bool /*last_tile*/) {}
  };
};
struct AwaitsBothConsumers : Right {
  static constexpr int kReleasingWarps = cuda::kConsumerWarps;
};

using Narrow = cuda::PingpongTile<128, 160>;  // two boxes of 80 columns
// Waits for the bytes of three boxes of 64 columns, as a tile of 160 columns once loaded.
struct CountsColumnsBeyondTheTile : Narrow {
  static constexpr int kStageBytes = Narrow::kOffsetB + 192 * cuda::kRowBytes;
};
// One box, of a part of the columns.
struct LeavesColumnsOut : Narrow {
  static constexpr int kBoxColumns = 96;
};

// What goes wrong with one cluster of two; empty if nothing does.
template <class Tile>
std::string mistake_of() {
  return fault_of([] {
    const auto wrong = wrong_elements<cuda::PingpongTiles<Tile>, Bf16, Bf16>(
        Layout::nt, {.tile = 0, .cluster = 2});
    if (wrong > 0) fault("wrong elements");
  });
}

TEST_F(Pingpong, EveryMistakeShows) {
  EXPECT_EQ(mistake_of<Right>(), "");
  EXPECT_EQ(mistake_of<Narrow>(), "");
  EXPECT_NE(mistake_of<CountsColumnsBeyondTheTile>(), "");
  EXPECT_NE(mistake_of<LeavesColumnsOut>(), "");
  expect_fault(mistake_of<KeepsTheTurn>(), "barrier 4, for threads that do not come");
  expect_fault(mistake_of<WaitsForAFirstTurn>(), "barrier 3, for threads that do not come");
  expect_fault(mistake_of<AwaitsBothConsumers>(), "deadlock");
  // A wait for a stage takes the trip before the last for the next.
  EXPECT_NE(mistake_of<TakesEveryTurn>(), "");
}

}  // namespace
}  // namespace ridgebench::emulator
