#include "harness/measure/selection/lecture.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

#include "harness/measure/campaign.hpp"
#include "harness/measure/sampling/sustained.hpp"
#include "kernels/common/cpu/amx.hpp"
#include "kernels/common/sweep.hpp"
#include "tests/support/made_up_case.hpp"
#include "tests/support/resolved_registry.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

class LectureTest : public RegistryTest {
 protected:
  static std::vector<Case> cases(Device& device, const CaseNames& names = {}) {
    const Registry& registry = Registry::instance();
    std::vector<Case> all =
        enumerate_cases(registry, device, Profile::lecture, {}, Selection(names, registry));
    std::erase_if(all, &Case::is_ceiling);
    return all;
  }
  static std::vector<Shape> shapes_of(const std::string& operation, const Machine& machine) {
    return Registry::instance().operation(operation).shapes(Profile::lecture, Pace::fast, machine);
  }
};

// Intensities of the shapes for which `chosen` holds.
std::vector<double> intensities(const std::vector<Shape>& shapes, Format format, auto&& chosen) {
  const Operation& matmul = Registry::instance().operation("matmul");
  std::vector<double> found;
  for (const Shape& s : shapes) {
    if (chosen(s)) found.push_back(matmul.flops(s) / bytes(matmul, s, format));
  }
  std::ranges::sort(found);
  return found;
}

bool is_square(const Shape& s) { return s["m"] == s["n"] && s["n"] == s["k"]; }
bool is_batch(const Shape& s) { return s["n"] == s["k"]; }
bool is_deep(const Shape& s) { return s["m"] == s["n"] && s["m"] > s["k"]; }

TEST_F(LectureTest, BothPathsCrossTheRidgeOfEveryMachine) {
  std::mt19937 random(1);
  const auto between = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
  };
  for (int i = 0; i < 500; ++i) {
    const bool gpu = i % 2 == 0;
    const Machine machine{.compute_capability = gpu ? 90 : 0,
                          .caches = {},
                          .flops_per_s_hint = gpu ? between(8e12, 1e14) : between(5e10, 1e13)};
    // The ridges of published GPUs in bf16, and of hosts in fp32.
    const double ridge = gpu ? between(60, 420) : between(4, 30);
    const Format format = gpu ? Format::bf16 : Format::fp32;
    const std::vector<Shape> shapes = shapes_of("matmul", machine);
    EXPECT_EQ(intensities(shapes, format, is_deep).empty(), gpu);
    for (const auto& path :
         {intensities(shapes, format, is_square), intensities(shapes, format, is_batch),
          intensities(shapes, format, gpu ? is_square : is_deep)}) {
      ASSERT_GE(path.size(), 6);
      EXPECT_LT(path.front(), ridge / 1.3) << machine.flops_per_s_hint;
      EXPECT_GT(path.back(), ridge * 1.3) << machine.flops_per_s_hint;
    }
  }
}

TEST_F(LectureTest, AGpuWalksFrom128To8192AndFromOneRowTo4096) {
  std::set<std::int64_t> sides;
  std::set<std::int64_t> rows;
  for (const Shape& s :
       shapes_of("matmul", {.compute_capability = 90, .caches = {}, .flops_per_s_hint = 5e13})) {
    if (is_square(s)) sides.insert(s["n"]);
    if (s["n"] == 4096 && s["k"] == 4096) rows.insert(s["m"]);
  }
  EXPECT_THAT(sides, ElementsAre(128, 256, 512, 1024, 2048, 4096, 8192));
  EXPECT_THAT(rows, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096));
}

TEST_F(LectureTest, EveryTechniqueOfTheLadderHasOneSizeInCommon) {
  SimulatedDevice device{Simulation{}};
  const Format format = lecture_format(Registry::instance(), device);
  EXPECT_TRUE(format == Format::fp32 || cpu::amx_bf16_available()) << "no other tensor engine";
  std::map<std::string, std::set<std::string>> sizes;
  for (const Case& c : cases(device)) {
    // An optimizer with a master copy has no fp32.
    const auto& formats = c.operation->formats;
    const bool served = std::ranges::find(formats, FormatPair(format)) != formats.end();
    EXPECT_EQ(c.format, served ? FormatPair(format) : formats.front());
    if (c.operation->name == "matmul") sizes[c.technique.name].insert(c.shape.text());
  }
  const auto& naive = sizes.at("naive");
  ASSERT_EQ(naive.size(), 1U);
  for (const auto& [technique, shapes] : sizes) {
    EXPECT_THAT(shapes, Contains(*naive.begin())) << technique;
  }
  const std::string tensor = sizes.contains("amx") ? "amx" : "onednn";  // a build may lack AMX's
  EXPECT_GT(sizes.at(format == Format::fp32 ? "packed" : tensor).size(), 7U);
}

TEST_F(LectureTest, ReluAndGeluHaveTheSameSize) {
  SimulatedDevice device{Simulation{}};
  std::map<std::string, std::set<std::int64_t>> sizes;
  for (const Case& c : cases(device)) {
    if (c.technique.pace == Pace::fast && c.shape.dimensions().size() == 1) {
      sizes[c.operation->name].insert(c.shape["n"]);
    }
  }
  EXPECT_EQ(sizes.at("relu"), sizes.at("gelu"));
  EXPECT_EQ(sizes.at("relu"), (std::set{dram_elements(device.machine(), 2 * sizeof(float))}));
}

TEST_F(LectureTest, WhatTheUserNamesIsMeasured) {
  SimulatedDevice device{Simulation{}};
  const auto some = cases(device, {.operations = {"matmul"},
                                   .techniques = {"naive", "packed"},
                                   .formats = {"fp16"},
                                   .shapes = {"matmul 24,32"}});
  std::vector<std::string> ids;
  for (const Case& c : some)
    ids.push_back(c.technique.name + " " + c.format.name() + " " + c.shape.text());
  EXPECT_THAT(
      ids,
      ElementsAre("naive fp16 m:24/n:24/k:24/layout:nt", "naive fp16 m:32/n:32/k:32/layout:nt",
                  "packed fp16 m:24/n:24/k:24/layout:nt", "packed fp16 m:32/n:32/k:32/layout:nt"));
}

// Two techniques of one made-up operation.
class WalkTest : public ::testing::Test {
 protected:
  bool walks(const Case& c, const Case& other) { return walks_all_sizes(c, {c, other}); }
  void on(const std::string& simulation) {
    device_ = std::make_unique<SimulatedDevice>(parse_simulation(simulation));
    made_up_ = std::make_unique<MadeUpCase>(*device_);
    made_up_->operation.engine = Engine::tensor;
    hand = made_up_->get();
    hand.technique.engine = Engine::tensor;
    tuned_hand = hand;
    tuned_hand.technique.name = "made_up_tuned";
    library = hand;
    library.technique.origin = Origin::library;
    tuned_library = library;
    tuned_library.technique.name = "library_tuned";
  }
  Case hand{}, tuned_hand{}, library{}, tuned_library{};

 private:
  std::unique_ptr<SimulatedDevice> device_;
  std::unique_ptr<MadeUpCase> made_up_;
};

TEST_F(WalkTest, AHostWalksWithItsBestOfBothOrigins) {
  on("seed=1");
  EXPECT_TRUE(walks(hand, library) && walks(library, hand));
  EXPECT_TRUE(walks(tuned_hand, hand) && walks(library, tuned_library));
  EXPECT_FALSE(walks(hand, tuned_hand) || walks(tuned_library, library));
  Case slow = hand;
  slow.technique.engine = Engine::fma;
  EXPECT_FALSE(walks(slow, hand));
  slow.technique.engine = Engine::tensor;
  slow.technique.pace = Pace::naive;
  EXPECT_FALSE(walks(slow, hand));
  EXPECT_TRUE(walks(hand, slow));
}

TEST_F(WalkTest, OneLibraryWalksAloneWherePowerSettlesSlowly) {
  on("power_limit=700,draw=1200");
  EXPECT_TRUE(walks(library, tuned_hand));
  EXPECT_FALSE(walks(tuned_hand, library));
  library.implementation = nullptr;  // it does not serve the format
  EXPECT_TRUE(walks(tuned_hand, library));
  EXPECT_FALSE(walks(library, tuned_hand));
}

TEST(PowerLimit, IsNotMetByAProductThatTheMemoryLimits) {
  SimulatedDevice gpu(parse_simulation("power_limit=700,draw=1200,sheet=h100-sxm"));
  MadeUpCase made_up(gpu);
  Case product = made_up.get();
  product.technique.engine = Engine::tensor;
  EXPECT_EQ(beyond_share_s(product, 0.5), 0.5) << "the warm-up alone";
  made_up.operation.flops = [](const Shape& s) { return 1e6 * static_cast<double>(s["n"]); };
  EXPECT_EQ(beyond_share_s(product, 0.5), 0.5 + 1.5);
}

}  // namespace
}  // namespace ridgebench
