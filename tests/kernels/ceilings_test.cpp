// The ceilings are what everything else is judged by: each must do all the work that it counts, and
// the check must notice one that does half.
#include <cmath>

#include "kernels/ceilings/cache.hpp"
#include "kernels/ceilings/fma.hpp"
#include "kernels/ceilings/products.hpp"
#include "tests/support/host_run.hpp"

namespace ridgepoint {
namespace {

const std::vector<std::string_view> kVectorCeilings{"dram_read", "dram_write", "dram_copy",
                                                    "dram_triad"};
const std::vector<std::string_view> kCacheCeilings{"cache_l1_read", "cache_l2_read",
                                                   "cache_l3_read"};

Machine two_core_machine() {
  return {.units = 2,
          .caches = {{.level = 1, .bytes = 48 << 10, .shared_by = 1},
                     {.level = 2, .bytes = 1 << 20, .shared_by = 1},
                     {.level = 3, .bytes = 32 << 20, .shared_by = 2}}};
}

const Operation& operation(std::string_view name) { return Registry::instance().operation(name); }

Shape only_shape(std::string_view name, const Machine& machine) {
  return operation(name).shapes(Profile::quick, Pace::fast, machine).at(0);
}

TEST(Ceilings, DramKernelsAreRightAtAwkwardSizesAndAlignments) {
  for (const std::string_view name : kVectorCeilings) {
    for_each_host_technique(name, [](const Implementation& implementation) {
      for (const std::int64_t n : kAwkwardSizes) {
        for (const std::int64_t offset : {0, 1}) {
          expect_right(implementation, Shape({{"n", n}}), offset, true);
        }
      }
      expect_right(implementation, Shape({{"n", kManyBlocks}}), 1, true);
    });
  }
}

TEST(Ceilings, DramOperationsCountEachByteOnce) {
  const Shape shape({{"n", 1000}});
  EXPECT_EQ(bytes(operation("dram_read"), shape, Format::fp32), 4004);
  EXPECT_EQ(bytes(operation("dram_write"), shape, Format::fp32), 4004);
  EXPECT_EQ(bytes(operation("dram_copy"), shape, Format::fp32), 8000);
  EXPECT_EQ(bytes(operation("dram_triad"), shape, Format::fp32), 12000);
}

TEST(Ceilings, CacheKernelsAreRight) {
  for (const std::string_view name : kCacheCeilings) {
    for_each_host_technique(name, [](const Implementation& implementation) {
      for (const std::int64_t n : {1, 127, 129, 4099}) {
        for (const std::int64_t passes : {1, 2, 15, 16, 17, 100}) {
          expect_right(implementation, Shape({{"n", n}, {"passes", passes}}), 1, true);
        }
      }
    });
  }
}

// The same values are added thousands of times: rounding errors that repeat must not pile up.
TEST(Ceilings, CacheKernelsStayAccurateOverAllTheirPasses) {
  for (const std::string_view name : kCacheCeilings) {
    const std::int64_t passes = only_shape(name, two_core_machine())["passes"];
    for_each_host_technique(name, [&](const Implementation& implementation) {
      HostRun run(implementation, Shape({{"n", 12288}, {"passes", passes}}));
      run.fill(Fill::normal);
      ASSERT_TRUE(run.launch());
      EXPECT_LT(run.verify().error, 0.5);
    });
  }
}

TEST(Ceilings, HalfThePassesAreNoticed) {
  for (const std::string_view name : kCacheCeilings) {
    const Shape shape = only_shape(name, two_core_machine());
    const Shape half({{"n", shape["n"]}, {"passes", shape["passes"] / 2}});
    for_each_host_technique(name, [&](const Implementation& implementation) {
      HostRun run(implementation, half);
      run.fill(Fill::normal);
      ASSERT_TRUE(run.launch());
      EXPECT_LE(run.verify(half).error, 1);
      EXPECT_GT(run.verify(shape).error, 1);
    });
  }
}

TEST(Ceilings, CacheSharesFillHalfALevelAndExceedTheOneBelow) {
  const Machine machine = two_core_machine();
  EXPECT_EQ(only_shape("cache_l1_read", machine)["n"], 2 * (24 << 10) / 4);
  EXPECT_EQ(only_shape("cache_l2_read", machine)["n"], 2 * (512 << 10) / 4);
  EXPECT_EQ(only_shape("cache_l3_read", machine)["n"], (16 << 20) / 4);
}

TEST(Ceilings, CacheLevelsThatAreMissingOrUnclearHaveNoShape) {
  Machine machine = two_core_machine();
  machine.caches[2].bytes = 4 << 20;  // half of a unit's share is no more than its level 2
  EXPECT_TRUE(operation("cache_l3_read").shapes(Profile::quick, Pace::fast, machine).empty());
  machine.caches.pop_back();
  EXPECT_TRUE(operation("cache_l3_read").shapes(Profile::quick, Pace::fast, machine).empty());
}

TEST(Ceilings, HugeSharedCacheIsNotTakenForOnesOwn) {
  Machine machine = two_core_machine();
  machine.caches[2].bytes = std::int64_t{480} << 20U;
  EXPECT_EQ(cache_detail::share_bytes(machine, 3), 16 << 20);
}

TEST(Ceilings, CacheTrafficIsEveryPass) {
  const Shape shape({{"n", 1024}, {"passes", 10}});
  EXPECT_EQ(bytes(operation("cache_l1_read"), shape, Format::fp32), 1024 * 10 * 4);
}

TEST(Ceilings, FmaChainsFollowTheClosedForm) {
  for_each_host_technique("fma_peak", [](const Implementation& implementation) {
    for (const std::int64_t n : {1, 47, 48, 191, 193, 4099}) {
      const Shape shape({{"n", n}, {"iterations", kFmaIterations}});
      HostRun run(implementation, shape, 1);
      run.fill(Fill::normal);
      ASSERT_TRUE(run.launch());
      EXPECT_LE(run.verify().error, 1) << n;
    }
  });
}

TEST(Ceilings, HalfTheIterationsAreNoticed) {
  for_each_host_technique("fma_peak", [](const Implementation& implementation) {
    const Shape half({{"n", 192}, {"iterations", kFmaIterations / 2}});
    HostRun run(implementation, half);
    run.fill(Fill::normal);
    ASSERT_TRUE(run.launch());
    EXPECT_LE(run.verify(half).error, 1);
    EXPECT_GT(run.verify(Shape({{"n", 192}, {"iterations", kFmaIterations}})).error, 1);
  });
}

Shape products(std::string_view name, std::int64_t iterations) {
  Shape shape = only_shape(name, {});
  std::vector<Shape::Dimension> dimensions = shape.dimensions();
  dimensions.front().second = 3;
  dimensions.back().second = iterations;
  return Shape(dimensions);
}

TEST(Ceilings, ProductsAreAddedUpAsOftenAsCounted) {
  for (const std::string_view name : {"tensor_peak", "fma_pairs_peak"}) {
    for_each_host_technique(name, [&](const Implementation& implementation) {
      for (const std::int64_t iterations : {std::int64_t{1}, kProductIterations}) {
        expect_right(implementation, products(name, iterations), 1, true);
      }
      HostRun run(implementation, products(name, kProductIterations - 1));
      run.fill(Fill::normal);
      if (!run.launch()) return;  // not an instruction of this processor
      EXPECT_GT(run.verify(products(name, kProductIterations)).error, 1);
    });
  }
}

TEST(Ceilings, ProductsCountEveryMultiplyAddTwice) {
  const Operation& op = operation("fma_pairs_peak");
  const Shape shape({{"tiles", 3}, {"m", 4}, {"n", 64}, {"k", 2}, {"iterations", 10}});
  EXPECT_EQ(op.flops(shape), 2 * 3 * 4 * 64 * 2 * 10);
  EXPECT_EQ(bytes(op, shape, Format::bf16), 3 * ((4 + 64) * 2 * 2 + 4 * 64 * 4));
}

TEST(Ceilings, LaunchCopiesItsWord) {
  for_each_host_technique("launch", [](const Implementation& implementation) {
    expect_right(implementation, Shape({{"n", 1}}), 0, true);
  });
}

}  // namespace
}  // namespace ridgepoint
