// A pointer chase visits every node of its chain once before it comes back, in an order that no
// prefetcher can guess, and the check notices one that makes fewer accesses than it counts.
#include "kernels/latency/pointer_chase.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "tests/support/host_run.hpp"

namespace ridgebench {
namespace {

Shape chase_shape(std::int64_t lines, std::int64_t stride, std::int64_t accesses) {
  return Shape({{"lines", lines}, {"stride", stride}, {"accesses", accesses}});
}

std::vector<Shape> chase_shapes(std::string_view name, Profile profile, const Machine& machine) {
  return Registry::instance().operation(name).shapes(profile, Pace::fast, machine);
}

constexpr std::int64_t kGiB = std::int64_t{1} << 30U;

Machine chase_host() {
  Machine machine;
  machine.memory_bytes = 2 * kGiB;
  return machine;
}

Machine chase_gpu() {
  return {.units = 132, .compute_capability = 90, .caches = {}, .memory_bytes = 80 * kGiB};
}

TEST(PointerChase, VisitsEveryNodeOnce) {
  for (const std::int64_t nodes : {1, 2, 3, 4, 5, 31, 32, 33, 1000, 4096, 4099}) {
    const ChaseOrder order(nodes);
    std::set<std::int64_t> places;
    for (std::int64_t k = 0; k < nodes; ++k) places.insert(order.place(k));
    EXPECT_EQ(std::ssize(places), nodes);
    EXPECT_EQ(*places.rbegin(), nodes - 1);
    EXPECT_EQ(order.after(nodes - 1), 0);
  }
}

TEST(PointerChase, LargestChainStaysInsideItself) {
  constexpr std::int64_t nodes = std::numeric_limits<std::int32_t>::max();
  const ChaseOrder order(nodes);
  for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, nodes / 2, nodes - 1}) {
    EXPECT_GE(order.place(k), 0);
    EXPECT_LT(order.place(k), nodes);
  }
}

// A tenth of the steps at most has any one distance, and few stay within a page of 4 KiB.
TEST(PointerChase, StepsHaveNoCommonDistance) {
  for (const std::int64_t nodes : {1024, 4099, 65536, 1 << 20}) {
    const ChaseOrder order(nodes);
    std::map<std::int64_t, std::int64_t> distances;
    std::int64_t near = 0;
    for (std::int64_t k = 0; k < nodes; ++k) {
      const std::int64_t distance = order.place(order.after(k)) - order.place(k);
      ++distances[distance];
      if (std::abs(distance) < 4096 / kChaseLineBytes) ++near;
    }
    const auto commonest =
        std::ranges::max_element(distances, {}, [](const auto& d) { return d.second; });
    EXPECT_LE(commonest->second, nodes / 10) << nodes << ": " << commonest->first;
    EXPECT_LE(near, nodes / 10) << nodes;
  }
}

TEST(PointerChase, HostKernelCountsItsAccesses) {
  for_each_host_technique("pointer_chase", [](const Implementation& implementation) {
    for (const std::int64_t lines : {1, 2, 3, 255, 4099}) {
      for (const std::int64_t accesses : {1, 2, 1000, 32749}) {
        for (const std::int64_t stride : {1, 3}) {
          SCOPED_TRACE(chase_shape(lines, stride, accesses).text());
          HostRun run(implementation, chase_shape(lines, stride, accesses));
          ASSERT_TRUE(run.launch(3));  // each continues where the one before stopped
          EXPECT_TRUE(run.verify().exact);
        }
      }
    }
  });
}

TEST(PointerChase, FewerAccessesAreNoticed) {
  for_each_host_technique("pointer_chase", [](const Implementation& implementation) {
    for (const Machine& machine : {chase_gpu(), chase_host()}) {
      for (const Shape& shape : chase_shapes("pointer_chase", Profile::full, machine)) {
        if (shape["lines"] > 1 << 16 || shape["stride"] > 1) continue;
        for (const std::int64_t made : {shape["accesses"] / 2, shape["accesses"] - 1}) {
          HostRun run(implementation, chase_shape(shape["lines"], 1, made));
          ASSERT_TRUE(run.launch());
          EXPECT_GT(run.verify(shape).error, 1) << shape.text();
        }
      }
    }
  });
}

TEST(PointerChase, SweepsReachFromLevel1BeyondTheBuffersOfTranslation) {
  const auto span = [](const Shape& s) { return chase_offset(s["lines"], s["stride"]); };
  const std::vector<Shape> quick = chase_shapes("pointer_chase", Profile::quick, chase_gpu());
  ASSERT_EQ(quick.size(), 2U);  // level 2 and main memory
  EXPECT_EQ(span(quick[0]), 8 << 20);
  EXPECT_EQ(span(quick[1]), kGiB);
  EXPECT_EQ(chase_shapes("pointer_chase", Profile::standard, chase_gpu()).size(), 6U);
  const std::vector<Shape> full = chase_shapes("pointer_chase", Profile::full, chase_gpu());
  const auto [least, most] = std::ranges::minmax_element(full, {}, span);
  EXPECT_EQ(span(*least), 4 << 10);
  EXPECT_EQ(span(*most), 32 * kGiB);
  EXPECT_TRUE(chase_shapes("pointer_chase", Profile::lecture, chase_gpu()).empty());
  EXPECT_TRUE(chase_shapes("pointer_chase", Profile::quick, chase_host()).empty());
  for (const Shape& s : chase_shapes("pointer_chase", Profile::full, chase_host())) {
    EXPECT_LE(span(s), kGiB);  // half of the memory
  }
}

// A GPU empties its caches of level 1 before each launch: the first round must be lost in the rest.
TEST(PointerChase, SmallChainsAreWalkedHundredsOfTimes) {
  for (const Shape& s : chase_shapes("pointer_chase", Profile::full, chase_gpu())) {
    if (s["lines"] <= 2048 && s["stride"] == 1) {
      EXPECT_GE(s["accesses"] / s["lines"], 511);
    }
    EXPECT_NE(s["accesses"] % s["lines"], 0);
  }
}

TEST(PointerChase, SharedMemoryHasOneSizeAndHostsHaveNone) {
  EXPECT_EQ(chase_shapes("pointer_chase_shared", Profile::standard, chase_gpu()).size(), 1U);
  EXPECT_TRUE(chase_shapes("pointer_chase_shared", Profile::quick, chase_gpu()).empty());
  EXPECT_TRUE(chase_shapes("pointer_chase_shared", Profile::full, Machine{}).empty());
  EXPECT_FALSE(shared_chase_limit(Shape({{"lines", 256}, {"accesses", 1}})));
  EXPECT_TRUE(shared_chase_limit(Shape({{"lines", 257}, {"accesses", 1}})));
}

TEST(PointerChase, ImpossibleChainsAreRefused) {
  const std::int64_t beyond = std::int64_t{1} << 31U;
  EXPECT_FALSE(chase_limit(chase_shape(beyond - 1, 1, beyond - 1)));
  EXPECT_TRUE(chase_limit(chase_shape(beyond, 1, 1)));
  EXPECT_TRUE(chase_limit(chase_shape(1, 1, beyond)));
}

}  // namespace
}  // namespace ridgebench
