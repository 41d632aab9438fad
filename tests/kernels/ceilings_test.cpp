// The ceilings are what everything else is judged by: each must do all the work that it counts, and
// the check must notice one that does half.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

#include "kernels/ceilings/atomics.hpp"
#include "kernels/ceilings/cache.hpp"
#include "kernels/ceilings/convert.hpp"
#include "kernels/ceilings/fma.hpp"
#include "kernels/ceilings/fma_half.hpp"
#include "kernels/ceilings/products.hpp"
#include "kernels/ceilings/sfu.hpp"
#include "kernels/ceilings/shared.hpp"
#include "kernels/ceilings/sweep/intensity.hpp"
#include "kernels/ceilings/sweep/parallelism.hpp"
#include "kernels/ceilings/sweep/tensor_double.hpp"
#include "kernels/ceilings/sweep/wgmma_tile.hpp"
#include "tests/support/host_run.hpp"

namespace ridgebench {
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

// Like an H200.
Machine gpu(int compute_capability = 90) {
  constexpr int kUnits = 132;
  return {.units = kUnits,
          .compute_capability = compute_capability,
          .caches = {{.level = 1, .bytes = 256 << 10, .shared_by = 1},
                     {.level = 2, .bytes = 60 << 20, .shared_by = kUnits}}};
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

// A roof from NEON would be too low for a processor with wider registers of SVE.
TEST(Ceilings, OfACoreAreNoRoofWhereItsRegistersAreWiderThanTheirVectors) {
  int checked = 0;
  for (const auto& i : Registry::instance().implementations()) {
    const Technique& technique = i->technique;
    const bool of_core =
        technique.operation.starts_with("cache_l") || technique.operation == "fma_peak";
    if (!of_core || i->backend != Backend::cpu || technique.isa == Isa::sve) continue;
    Machine machine;
    EXPECT_TRUE(technique.full_rate(machine)) << "without SVE";
    machine.sve_bytes = 16;
    EXPECT_TRUE(technique.full_rate(machine)) << "registers as wide as NEON's";
    machine.sve_bytes = 256;
    EXPECT_FALSE(technique.full_rate(machine));
    ++checked;
  }
  EXPECT_GE(checked, 3);
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
  if (host_isa() != Isa::v4) GTEST_SKIP() << "AMX's technique is built for x86-64-v4 only";
  constexpr std::string_view name = "tensor_peak";
  const bool built =
      std::ranges::any_of(Registry::instance().implementations(), [&](const auto& one) {
        return one->technique.operation == name && one->backend == Backend::cpu;
      });
  if (!built) GTEST_SKIP() << "this build has no instructions of x86-64-v4";
  for_each_host_technique(name, [&](const Implementation& implementation) {
    for (const std::int64_t iterations : {std::int64_t{1}, kProductIterations}) {
      expect_right(implementation, products(name, iterations), 1, true);
    }
    HostRun run(implementation, products(name, kProductIterations - 1));
    run.fill(Fill::normal);
    if (!run.launch()) return;  // this processor lacks the instruction
    EXPECT_GT(run.verify(products(name, kProductIterations)).error, 1);
  });
}

TEST(Ceilings, ProductsCountEveryMultiplyAddTwice) {
  const Operation& op = operation("tensor_peak");
  const Shape shape({{"tiles", 3}, {"m", 4}, {"n", 64}, {"k", 2}, {"iterations", 10}});
  EXPECT_EQ(op.flops(shape), 2 * 3 * 4 * 64 * 2 * 10);
  EXPECT_EQ(bytes(op, shape, Format::bf16), 3 * ((4 + 64) * 2 * 2 + 4 * 64 * 4));
}

TEST(Ceilings, ProductsTakeTheirInputsInEveryFormatAndAddUpInFp32) {
  const Operation& op = operation("tensor_peak");
  const Shape shape({{"tiles", 2}, {"m", 32}, {"n", 32}, {"k", 32}, {"iterations", 10}});
  for (const FormatPair format : op.formats) {
    const std::vector<Operand> operands = op.operands(shape, format);
    EXPECT_EQ(operands[0].format, format.a);
    EXPECT_EQ(operands[1].format, format.b);
    EXPECT_EQ(operands[2].format, Format::fp32);
  }
  EXPECT_EQ(op.formats.size(), 5U);
}

TEST(Ceilings, LaunchesCopyAWordEach) {
  for_each_host_technique("launch", [](const Implementation& implementation) {
    for (const std::int64_t n : {1, 2, 256}) {
      expect_right(implementation, Shape({{"n", n}}), 0, true);
    }
  });
  EXPECT_EQ(only_shape("launch", two_core_machine())["n"], 256);
}

TEST(Ceilings, WhatOnlyGpusHaveHasNoShapeOnAHost) {
  for (const std::string_view name : {"shared_read", "fma_half_peak", "sfu_tanh", "sfu_exp2",
                                      "convert_narrow", "convert_widen", "atomic_add"}) {
    for (const Profile profile : {Profile::quick, Profile::full}) {
      EXPECT_TRUE(operation(name).shapes(profile, Pace::fast, two_core_machine()).empty()) << name;
      EXPECT_FALSE(operation(name).shapes(profile, Pace::fast, gpu()).empty()) << name;
    }
  }
}

TEST(Ceilings, OfFp64AreLeftOutOfTheQuickProfileAndOfHosts) {
  for (const std::string_view name : {"fma_double_peak", "tensor_double_peak"}) {
    const Operation& op = operation(name);
    EXPECT_TRUE(op.shapes(Profile::quick, Pace::fast, gpu()).empty()) << name;
    EXPECT_TRUE(op.shapes(Profile::full, Pace::fast, two_core_machine()).empty()) << name;
    for (const Profile profile : {Profile::standard, Profile::full}) {
      const std::vector<Shape> shapes = op.shapes(profile, Pace::fast, gpu());
      ASSERT_EQ(shapes.size(), 1U) << name;
      const double rate = op.ceiling->most_per_clock(gpu(), Format::fp64);
      const double clocks = op.flops(shapes.front()) / gpu().units / rate;
      EXPECT_GT(clocks, 1.5e6) << name;
      EXPECT_LT(clocks, 2e7) << name;
    }
  }
}

TEST(Ceilings, ProductsOfFp64AreAddedUpInFp64) {
  const std::vector<Operand> operands =
      operation("tensor_double_peak")
          .operands(Shape({{"tiles", 2}, {"m", 32}, {"n", 32}, {"k", 16}, {"iterations", 10}}),
                    Format::fp64);
  EXPECT_EQ(operands[2].format, Format::fp64);
  EXPECT_EQ(operands[2].bytes(), 2 * 32 * 32 * 8);
}

TEST(Intensity, HostTechniquesAreRightAtAwkwardSizesAndLengths) {
  for_each_host_technique("intensity", [](const Implementation& implementation) {
    for (const std::int64_t n : {1, 47, 96, 257, 4099}) {
      for (const std::int64_t iterations : {1, 2, 33, 128}) {
        HostRun run(implementation, Shape({{"n", n}, {"iterations", iterations}}), 1);
        run.fill(Fill::normal);
        ASSERT_TRUE(run.launch());
        EXPECT_LE(run.verify().error, 1) << n << ' ' << iterations;
      }
    }
  });
}

TEST(Intensity, OneMultiplyAddMoreOrLessIsNoticed) {
  for_each_host_technique("intensity", [](const Implementation& implementation) {
    for (const std::int64_t iterations : {1, 32, 512}) {
      HostRun run(implementation, Shape({{"n", 192}, {"iterations", iterations}}));
      run.fill(Fill::normal);
      ASSERT_TRUE(run.launch());
      for (const std::int64_t counted : {iterations - 1, iterations + 1}) {
        if (counted == 0) continue;
        EXPECT_GT(run.verify(Shape({{"n", 192}, {"iterations", counted}})).error, 1) << counted;
      }
    }
  });
}

TEST(Intensity, SweepPassesTheRidge) {
  const Operation& op = operation("intensity");
  EXPECT_FALSE(op.ceiling) << "a kernel, which the roofs judge";
  EXPECT_TRUE(op.shapes(Profile::quick, Pace::fast, gpu()).empty());
  const auto intensity = [&](const Shape& s) { return op.flops(s) / bytes(op, s, Format::fp32); };
  const std::vector<Shape> full = op.shapes(Profile::full, Pace::fast, gpu());
  EXPECT_EQ(full.size(), 10U);
  EXPECT_EQ(intensity(full.front()), 128);
  EXPECT_EQ(intensity(full.back()), 0.25);
  EXPECT_EQ(op.shapes(Profile::standard, Pace::fast, gpu()).size(), 5U);
  EXPECT_EQ(intensity(op.shapes(Profile::full, Pace::fast, two_core_machine()).front()), 32);
}

TEST(Ceilings, GpuCacheSweepPassesItsKnee) {
  const Machine machine = gpu();
  const auto bytes_of = [](const Shape& s) { return static_cast<double>(s["n"]) * sizeof(float); };
  const auto& op = operation("cache_l2_read");
  const std::vector<Shape> quick = op.shapes(Profile::quick, Pace::fast, machine);
  ASSERT_EQ(quick.size(), 1U);
  EXPECT_NEAR(bytes_of(quick.front()), 15 << 20, 1 << 20);
  const std::vector<Shape> sweep = op.shapes(Profile::standard, Pace::fast, machine);
  EXPECT_EQ(sweep.front(), quick.front());
  std::set<double> shares;
  for (const Shape& shape : sweep) {
    EXPECT_EQ(shape["n"] % (cache_detail::kUnitElements * machine.units), 0);
    shares.insert(std::round(8 * bytes_of(shape) / (60 << 20)) / 8);
    // Milliseconds at some 5 TB/s, whatever the size.
    EXPECT_NEAR(bytes(op, shape, Format::fp32), 17.7e9, 0.5e9);
  }
  EXPECT_EQ(shares, (std::set<double>{0.125, 0.25, 0.5, 1, 2, 4}));
  EXPECT_TRUE(operation("cache_l3_read").shapes(Profile::full, Pace::fast, machine).empty());
}

TEST(Ceilings, GpuCacheSmallerThanAShareForEachUnitStillHasAShape) {
  Machine machine = gpu();
  machine.caches.back().bytes = 64 << 10;
  const std::vector<Shape> shapes =
      operation("cache_l2_read").shapes(Profile::full, Pace::fast, machine);
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_EQ(shapes.front()["n"], cache_detail::kUnitElements * machine.units);
}

// What one SM does at most per clock, against the data sheets' peaks over SMs and clock.
TEST(Ceilings, MostPerClockIsKnownByComputeCapability) {
  struct Case {
    std::string_view name;
    int compute_capability;
    Format format;
    double expected;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"fma_peak", 80, Format::fp32, 128},
           {"fma_peak", 90, Format::fp32, 256},
           {"fma_half_peak", 80, Format::fp16, 512},
           {"fma_half_peak", 80, Format::bf16, 256},
           {"fma_half_peak", 89, Format::fp16, 256},
           {"fma_half_peak", 90, Format::bf16, 512},
           {"fma_half_peak", 100, Format::bf16, 0},
           {"tensor_peak", 80, Format::tf32, 1024},
           {"tensor_peak", 80, Format::fp8_e4m3, 0},
           {"tensor_peak", 89, Format::fp8_e5m2, 2048},
           {"tensor_peak", 90, Format::tf32, 2048},
           {"tensor_peak", 90, Format::bf16, 4096},
           {"tensor_peak", 90, Format::fp8_e4m3, 8192},
           {"tensor_peak", 100, Format::fp16, 8192},
           {"cache_l1_read", 90, Format::fp32, 128},
           {"cache_l2_read", 90, Format::fp32, 64},
           {"cache_l2_read", 100, Format::fp32, 0},
           {"shared_read", 90, Format::fp32, 128},
           {"sfu_tanh", 90, Format::fp32, 16},
           {"sfu_tanh", 103, Format::fp32, 16},
           {"sfu_exp2", 90, Format::fp32, 16},
           {"sfu_exp2", 103, Format::fp32, 32},
           {"fma_double_peak", 80, Format::fp64, 64},
           {"fma_double_peak", 89, Format::fp64, 4},
           {"fma_double_peak", 90, Format::fp64, 128},
           {"tensor_double_peak", 89, Format::fp64, 0},
           {"tensor_double_peak", 80, Format::fp64, 128},
           {"tensor_double_peak", 90, Format::fp64, 256},
       }) {
    const auto most = operation(c.name).ceiling->most_per_clock;
    ASSERT_NE(most, nullptr) << c.name;
    EXPECT_EQ(most(gpu(c.compute_capability), c.format), c.expected)
        << c.name << " " << c.compute_capability;
    EXPECT_EQ(most(two_core_machine(), c.format), 0) << c.name;
  }
}

// On every GPU whole waves, and so long that a launch's start and end do not show.
TEST(Ceilings, GpuChainsFillWholeWavesForAMillisecond) {
  struct Case {
    std::string_view name;
    std::int64_t chains_of_thread;
    double flops_per_clock;
  };
  for (const Case& c :
       std::initializer_list<Case>{{"sfu_tanh", kSfuSums, 16}, {"sfu_exp2", kSfuSums, 32}}) {
    const Shape shape = only_shape(c.name, gpu());
    for (const std::int64_t threads : {1536, 2048}) {
      EXPECT_EQ(shape["n"] % (gpu().units * threads * c.chains_of_thread), 0) << c.name;
    }
    const double clocks = operation(c.name).flops(shape) / gpu().units / c.flops_per_clock;
    EXPECT_GT(clocks, 1.5e6) << c.name;
    EXPECT_LT(clocks, 1e7) << c.name;
  }
}

// A second wave would begin with loads while the units idle. 2048 threads fit an SM of compute
// capability 8.0 or 9.0, 1536 one of 8.9.
TEST(Ceilings, ChainsOfMultiplyAddsAreOneWaveForAMillisecond) {
  for (const auto& [capability, threads] : {std::pair(80, 2048), {89, 1536}, {90, 2048}}) {
    const Machine machine = gpu(capability);
    const std::int64_t resident = std::int64_t{threads} * machine.units;
    const Shape fma = only_shape("fma_peak", machine);
    EXPECT_EQ(fma["n"], resident * kFmaChains) << capability;
    const Shape half = only_shape("fma_half_peak", machine);
    EXPECT_EQ(half["n"], resident * 2 * kFmaHalfPairs) << capability;
    for (const std::string_view name : {"fma_peak", "fma_half_peak"}) {
      const Format format = name == "fma_peak" ? Format::fp32 : Format::fp16;
      const double rate = operation(name).ceiling->most_per_clock(machine, format);
      const double clocks = operation(name).flops(only_shape(name, machine)) / machine.units / rate;
      EXPECT_GT(clocks, 1.5e6) << name;
      EXPECT_LT(clocks, 1e7) << name;
    }
  }
}

TEST(Ceilings, WhereWgmmaOrTcgen05ExistMmaSyncIsNoRoof) {
  for (const int capability : {80, 86, 87, 89, 120, 121}) {
    EXPECT_TRUE(mma_sync_is_full_rate(gpu(capability))) << capability;
  }
  for (const int capability : {90, 100, 103, 110, 130}) {
    EXPECT_FALSE(mma_sync_is_full_rate(gpu(capability))) << capability;
  }
}

TEST(Ceilings, TensorCoresWithoutARoofAreThoseThatNoCeilingOfTheProgramSaturates) {
  constexpr std::array capabilities{80, 86, 89, 90, 100, 103, 110, 120};
  bool cuda = false;
  std::set<int> reached;
  Registry::instance().resolve();
  for (const auto& i : Registry::instance().implementations()) {
    if (i->backend != Backend::cuda || i->technique.engine != Engine::tensor) continue;
    if (!i->operation->ceiling || i->operation->ceiling->sweep) continue;
    if (i->format != Format::bf16) continue;
    cuda = true;
    for (const int capability : capabilities) {
      const Machine machine = gpu(capability);
      const bool full = i->technique.full_rate == nullptr || i->technique.full_rate(machine);
      const Shape shape = only_shape(i->operation->name, machine);
      if (full && !i->unsupported(machine, shape)) reached.insert(capability);
    }
  }
  if (!cuda) GTEST_SKIP() << "built without CUDA";
  EXPECT_EQ(reached, (std::set<int>{80, 86, 89, 90, 120}));
  for (const int capability : capabilities) {
    EXPECT_EQ(no_tensor_roof(gpu(capability)).has_value(), !reached.contains(capability));
  }
  EXPECT_FALSE(no_tensor_roof(Machine{})) << "a host has none of those tensor cores";
}

TEST(Ceilings, ProductsOfWarpgroupsAreOneWave) {
  EXPECT_EQ(only_shape("wgmma_peak", gpu(90))["tiles"], kWgmmaBlocksPerSm * gpu(90).units);
}

TEST(Ceilings, SweepsOfParallelismCoverWhatIsInFlight) {
  for (const std::string_view name : {"fma_parallelism", "dram_parallelism", "l2_parallelism"}) {
    const Operation& op = operation(name);
    EXPECT_TRUE(op.ceiling->sweep) << name;
    EXPECT_TRUE(op.shapes(Profile::quick, Pace::fast, gpu()).empty()) << name;
    EXPECT_TRUE(op.shapes(Profile::full, Pace::fast, two_core_machine()).empty()) << name;
    EXPECT_EQ(op.shapes(Profile::standard, Pace::fast, gpu()).size(), 4U) << name;
    EXPECT_EQ(op.shapes(Profile::full, Pace::fast, gpu()).size(), 24U) << name;
  }
  const auto bytes_of = [](std::string_view name) {
    return 4 * operation(name).shapes(Profile::full, Pace::fast, gpu()).front()["n"];
  };
  EXPECT_GE(bytes_of("dram_parallelism"), 8 * gpu().last_level_cache_bytes());
  EXPECT_LE(bytes_of("l2_parallelism"), gpu().last_level_cache_bytes() / 4);
  const Shape point({{"blocks", 3}, {"warps", 2}, {"chains", 4}, {"iterations", 10}});
  EXPECT_EQ(operation("fma_parallelism").flops(point), 2 * 3 * 2 * 32 * 4 * 10);
}

TEST(Ceilings, TilesOfWgmmaDoTheSameWorkAtEveryWidth) {
  const Operation& op = operation("wgmma_tile");
  const Shape peak = only_shape("wgmma_peak", gpu(90));
  EXPECT_TRUE(op.shapes(Profile::quick, Pace::fast, gpu(90)).empty());
  EXPECT_EQ(op.shapes(Profile::standard, Pace::fast, gpu(90)).size(), 4U);
  std::set<std::int64_t> widths;
  for (const Shape& shape : op.shapes(Profile::full, Pace::fast, gpu(90))) {
    widths.insert(shape["n"]);
    EXPECT_NEAR(op.flops(shape) / operation("wgmma_peak").flops(peak), 1, 1e-3) << shape.text();
  }
  EXPECT_EQ(widths, std::set<std::int64_t>(kWgmmaWidths.begin(), kWgmmaWidths.end()));
}

// The closed form also holds for the length that GPUs run, and a turn of the loop, 32 steps, shows.
TEST(Ceilings, LongFmaChainsShowATurnOfTheLoop) {
  for_each_host_technique("fma_peak", [](const Implementation& implementation) {
    for (const std::int64_t iterations : {kWaveIterations, std::int64_t{1} << 16U}) {
      const Shape whole({{"n", 192}, {"iterations", iterations}});
      HostRun run(implementation, whole);
      run.fill(Fill::normal);
      ASSERT_TRUE(run.launch());
      EXPECT_LE(run.verify(whole).error, 1) << iterations;
      EXPECT_GT(run.verify(Shape({{"n", 192}, {"iterations", iterations - 32}})).error, 1)
          << iterations;
    }
  });
}

// The output by the reference, for inputs drawn as a run draws them.
class ByReference {
 public:
  ByReference(std::string_view name, Format format, const Shape& shape) {
    const Operation& op = operation(name);
    const std::vector<Operand> operands = op.operands(shape, format);
    GuardedArray x(operands[0], 0);
    x.fill(Fill::normal, 0);
    const View in = x.view();
    for (std::int64_t i = 0; i < operands[0].elements; ++i) inputs_.push_back(in[i]);
    const std::int64_t length = op.row_length(shape);
    outputs_.resize(static_cast<std::size_t>(operands[1].elements));
    for (std::int64_t first = 0; first < operands[1].elements; first += length) {
      const auto count = std::min(length, operands[1].elements - first);
      op.reference(shape, first / length, {&in, 1},
                   std::span(outputs_).subspan(static_cast<std::size_t>(first),
                                               static_cast<std::size_t>(count)));
    }
  }

  [[nodiscard]] const std::vector<double>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<Expected>& outputs() const { return outputs_; }

 private:
  std::vector<double> inputs_;
  std::vector<Expected> outputs_;
};

// Elements for which another amount of work gives the same result.
int equal_outputs(const ByReference& a, const ByReference& b) {
  int equal = 0;
  for (std::size_t i = 0; i < a.outputs().size(); ++i) {
    equal += a.outputs()[i].value == b.outputs()[i].value ? 1 : 0;
  }
  return equal;
}

TEST(Ceilings, HalfChainsRoundAsTheFormatDoes) {
  for (const Format format : {Format::fp16, Format::bf16}) {
    for (float x = 0x1p-10F; x < 4; x *= 1.00037F) {
      const double expected = decode_bits(info(format), encode_bits(info(format), x));
      EXPECT_EQ(fma_half_detail::rounded(x, format), expected) << x;
      EXPECT_EQ(fma_half_detail::rounded(-x, format), -expected) << x;
    }
  }
  EXPECT_EQ(fma_half_detail::rounded(1 + 0x1p-11, Format::fp16), 1);  // a tie
  EXPECT_EQ(fma_half_detail::rounded(1 + 0x1p-11 + 0x1p-40, Format::fp16), 1 + 0x1p-10);
}

TEST(Ceilings, HalfChainsShowEveryStep) {
  const auto shape = [](std::int64_t iterations) {
    return Shape({{"n", 2000}, {"iterations", iterations}});
  };
  for (const Format format : {Format::fp16, Format::bf16}) {
    const std::int64_t all = kFmaHalfIterations;
    const ByReference whole("fma_half_peak", format, shape(all));
    for (const std::int64_t fewer : {all - 1, all - 32, all / 2, all / 4, std::int64_t{0}}) {
      // Some chains in bf16 end in a cycle of two; all others notice.
      EXPECT_LT(equal_outputs(whole, {"fma_half_peak", format, shape(fewer)}), 40) << fewer;
    }
  }
}

TEST(Ceilings, HalfChainsStayNormalAndFinite) {
  for (const Format format : {Format::fp16, Format::bf16}) {
    for (const std::int64_t iterations : {1, 2, 3, 10, 1000}) {
      const Shape shape({{"n", 4000}, {"iterations", iterations}});
      const ByReference chains("fma_half_peak", format, shape);
      for (const Expected& e : chains.outputs()) {
        EXPECT_GE(e.value, kFmaHalfAddend);
        EXPECT_LE(e.value, kFmaHalfAddend + kFmaHalfAddend * kFmaHalfAddend);
        EXPECT_GT(std::abs(e.value), 0x1p-11);
      }
    }
  }
}

TEST(Ceilings, SpecialFunctionsAreSummedUpAlongTheirSteps) {
  const Shape shape({{"n", 300}, {"iterations", 3}});
  const ByReference tanh("sfu_tanh", Format::fp32, shape);
  const ByReference exp2("sfu_exp2", Format::fp32, shape);
  for (std::size_t i = 0; i < 300; ++i) {
    const double x = tanh.inputs()[i];
    constexpr double h = 1.0 / 1024;
    EXPECT_DOUBLE_EQ(tanh.outputs()[i].value,
                     std::tanh(x + h) + std::tanh(x + 2 * h) + std::tanh(x + 3 * h));
    EXPECT_DOUBLE_EQ(exp2.outputs()[i].value,
                     std::exp2(x + h) + std::exp2(x + 2 * h) + std::exp2(x + 3 * h));
    EXPECT_GE(tanh.outputs()[i].norm, std::abs(tanh.outputs()[i].value));
  }
  EXPECT_EQ(operation("sfu_tanh").flops(shape), 900);
  EXPECT_EQ(operation("sfu_tanh").special(shape), 900);
}

// The terms of a run's sums are of one size: some of them missing is more than the tolerance.
TEST(Ceilings, MissingSpecialFunctionsAreNoticed) {
  const auto shape = [](std::int64_t iterations) {
    return Shape({{"n", 300}, {"iterations", iterations}});
  };
  for (const std::string_view name : {"sfu_tanh", "sfu_exp2"}) {
    const ByReference all(name, Format::fp32, shape(kSfuIterations));
    const ByReference fewer(name, Format::fp32, shape(kSfuIterations - 8));
    int noticed = 0;
    for (std::size_t i = 0; i < 300; ++i) {
      const Expected e = all.outputs()[i];
      constexpr double kSpecialError = 0x1p-10;  // of tanh; that of 2^x is smaller
      noticed += std::abs(e.value - fewer.outputs()[i].value) > 2 * kSpecialError * e.norm ? 1 : 0;
    }
    EXPECT_GT(noticed, 250) << name;
  }
}

TEST(Ceilings, NarrowedBitsAreSummedUp) {
  const Shape shape({{"chains", 5}, {"iterations", 1}});
  for (const FormatPair format : operation("convert_narrow").formats) {
    const FormatInfo& f = info(format.a);
    const ByReference reference("convert_narrow", format.a, shape);
    ASSERT_EQ(reference.inputs().size(), 4U * 5U);
    for (std::size_t chain = 0; chain < 5; ++chain) {
      std::uint32_t sum = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        const auto changed = static_cast<float>(reference.inputs()[5 * k + chain]) + 1.0F / 256;
        // Every number is three times in a low half and three times in a high one.
        sum += 3 * encode_bits(f, changed) * (1U + (1U << static_cast<unsigned>(f.bits())));
      }
      EXPECT_EQ(reference.outputs()[chain].value, folded(sum));
      EXPECT_EQ(reference.outputs()[chain].norm, 0);
    }
  }
  EXPECT_EQ(operation("convert_narrow").flops(shape), 5 * 24);
}

TEST(Ceilings, WidenedBitsAreSummedUp) {
  const Shape shape({{"chains", 5}, {"iterations", 1}});
  for (const FormatPair format : operation("convert_widen").formats) {
    const FormatInfo& f = info(format.a);
    const ByReference reference("convert_widen", format.a, shape);
    ASSERT_EQ(reference.inputs().size(), 32U * 5U);
    for (std::size_t chain = 0; chain < 5; ++chain) {
      std::uint32_t sum = 0;
      for (std::size_t k = 0; k < 32; ++k) {
        const auto x = static_cast<float>(reference.inputs()[5 * k + chain]);
        sum += std::bit_cast<std::uint32_t>(decode_bits(f, encode_bits(f, x) ^ 1U));
      }
      EXPECT_EQ(reference.outputs()[chain].value, folded(sum));
    }
  }
  EXPECT_EQ(operation("convert_widen").flops(shape), 5 * 32);
}

// By one chain in two at least, where one in all would be enough: widened fp8 has few bits to sum
// up.
TEST(Ceilings, MissingConversionsAreNoticed) {
  const auto shape = [](std::int64_t iterations) {
    return Shape({{"chains", 500}, {"iterations", iterations}});
  };
  for (const std::string_view name : {"convert_narrow", "convert_widen"}) {
    for (const FormatPair format : operation(name).formats) {
      const ByReference whole(name, format.a, shape(kConvertIterations));
      for (const std::int64_t fewer : {kConvertIterations - 1, kConvertIterations / 2}) {
        EXPECT_LT(equal_outputs(whole, {name, format.a, shape(fewer)}), 250)
            << name << " " << format.name();
      }
    }
  }
}

TEST(Ceilings, AtomicSumsAreExact) {
  for (const Shape& shape : operation("atomic_add").shapes(Profile::standard, Pace::fast, gpu())) {
    EXPECT_LE(8.0 * static_cast<double>(shape["adds"]), 0x1p24);
    EXPECT_EQ(bytes(operation("atomic_add"), shape, Format::fp32),
              4.0 * operation("atomic_add").flops(shape));
  }
  const ByReference sums("atomic_add", Format::fp32, Shape({{"addresses", 300}, {"adds", 7}}));
  for (std::size_t i = 0; i < 300; ++i) {
    const double addend = 1 + std::trunc(std::abs(sums.inputs()[i]));
    EXPECT_EQ(sums.outputs()[i].value, 7 * addend);
  }
  EXPECT_EQ(addend_of(1e9F), 8);
  EXPECT_EQ(addend_of(-2.5F), 3);
}

}  // namespace
}  // namespace ridgebench
