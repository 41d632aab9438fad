// Every answer of `predict --solve` is that of all sizes, one by one.
#include "roofline/solve.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/nullable.hpp"
#include "roofline/prediction.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kLargest = 160;

// A device of 10 byte/s with the ridge; `mixes`: the bandwidth depends on the written share.
Roofs roofs_of_ridge(double ridge, FormatPair format, bool mixes = false) {
  Roofs roofs("a device");
  roofs.add({Resource::fma, Format::fp32, 0, 10 * ridge, "fma_peak"});
  for (const Format one : {format.a, format.b}) {
    roofs.add({Resource::tensor, one, 0, 10 * ridge, "tensor_peak"});
  }
  roofs.add({Resource::memory, Format::fp32, 0, 10, "dram_read"});
  if (mixes) {
    roofs.add({Resource::memory, Format::fp32, 1.0 / 3, 6, "dram_triad"});
    roofs.add({Resource::memory, Format::fp32, 0.5, 12, "dram_copy"});
  }
  return roofs;
}

// The sizes that `predict` accepts, and those of them that are compute-bound.
std::map<std::int64_t, bool> each_size(const Operation& operation, const OpenShape& open,
                                       FormatPair format, const Roofs& roofs) {
  std::map<std::int64_t, bool> compute;
  for (std::int64_t size = 1; size <= kLargest; ++size) {
    const Shape shape = open.with(size);
    if (operation.refuses && operation.refuses(shape)) continue;
    compute[size] = predict(operation, shape, format, roofs).at("bound") == "compute";
  }
  return compute;
}

ordered_json keys_of(const std::map<std::int64_t, bool>& compute) {
  using Size = std::optional<std::int64_t>;
  const auto [largest, at_largest] = *compute.rbegin();
  Size last_other;
  Size settled;
  Size first_same;
  for (const auto& [size, is_compute] : compute) {
    if (is_compute != at_largest) {
      last_other = size;
      settled.reset();
    } else {
      if (!settled) settled = size;
      if (!first_same) first_same = size;
    }
  }
  const Size none;
  return {{"smallest_compute_bound", nullable(at_largest ? settled : none)},
          {"largest_memory_bound", nullable(at_largest ? last_other : Size(largest))},
          {"smallest_memory_bound", nullable(!at_largest && last_other ? settled : none)},
          {"largest_compute_bound", nullable(at_largest ? none : last_other)},
          {"alternates_from", nullable(first_same != settled ? first_same : none)}};
}

void expect_true(const Operation& operation, const std::string& text, const std::string& dimension,
                 FormatPair format, const Roofs& roofs) {
  const OpenShape open = parse_open_shape(text, dimension, operation);
  const auto compute = each_size(operation, open, format, roofs);
  ASSERT_FALSE(compute.empty());
  const ordered_json found = solve_compute_bound(operation, open, format, roofs, kLargest);
  const ordered_json wanted = keys_of(compute);
  for (const auto& [key, value] : wanted.items()) {
    EXPECT_EQ(found.at(key), value) << operation.name << " " << text << " " << dimension << " "
                                    << format.name() << " " << key << " " << found.dump();
  }
}

// Sizes that fit each other, for all dimensions but one.
std::string other_sizes(const Operation& operation, const std::string& dimension, bool large) {
  const std::map<std::string, int> sizes{{"h", 96}, {"kv", 4}, {"d", large ? 64 : 6}};
  std::string text;
  for (const std::string& name : operation.dimensions) {
    if (name == dimension) continue;
    const auto own = sizes.find(name);
    const int size = own == sizes.end() ? (large ? 70 : 4) : own->second;
    text += fmt::format("{}{}:{}", text.empty() ? "" : "/", name, size);
  }
  return text;
}

TEST(Solve, AnswersAreThoseOfEverySizeThatPredictAccepts) {
  for (const auto& operation : Registry::instance().operations()) {
    if (operation->ceiling) continue;
    for (const std::string& dimension : operation->dimensions) {
      for (const FormatPair format : {operation->formats.front(), operation->formats.back()}) {
        for (const double ridge : {0.3, 4.7, 20.0}) {
          for (const bool mixes : {false, true}) {
            const Roofs roofs = roofs_of_ridge(ridge, format, mixes);
            if (operation->dimensions.size() <= 3) {
              expect_true(*operation, "", dimension, format, roofs);
            }
            for (const bool large : {false, true}) {
              const std::string sizes = other_sizes(*operation, dimension, large);
              if (!sizes.empty()) expect_true(*operation, sizes, dimension, format, roofs);
            }
          }
        }
      }
    }
  }
}

const Operation& operation_of(const char* name) { return Registry::instance().operation(name); }

TEST(Solve, BothLimitsInTurnAreSaid) {
  const Operation& scaled = operation_of("matmul_block_scaled");
  int alternating = 0;
  for (int i = 0; i < 300; ++i) {
    const double ridge = 20 + 0.1 * i;
    const Roofs roofs = roofs_of_ridge(ridge, Format::fp8_e4m3);
    expect_true(scaled, "m:48/n:48", "k", Format::fp8_e4m3, roofs);
    const auto open = parse_open_shape("m:48/n:48", "k", scaled);
    const auto found = solve_compute_bound(scaled, open, Format::fp8_e4m3, roofs, kLargest);
    alternating += found.at("alternates_from").is_null() ? 0 : 1;
  }
  EXPECT_GT(alternating, 0);
}

TEST(Solve, AnIntensityThatIsTheRidgeIsComputeBoundAtEverySize) {
  const Operation& gelu = operation_of("gelu");
  for (const double ridge : {9.999, 10.0, 10.001}) {
    const Roofs roofs = roofs_of_ridge(ridge, Format::fp8_e4m3);
    const auto open = parse_open_shape("", "n", gelu);
    const auto found = solve_compute_bound(gelu, open, Format::fp8_e4m3, roofs);
    EXPECT_EQ(found.at("smallest_compute_bound").is_null(), ridge > 10);
    expect_true(gelu, "", "n", Format::fp8_e4m3, roofs);
  }
}

TEST(Solve, GroupsWithoutTokensBoundTheSizes) {
  const Operation& grouped = operation_of("matmul_grouped");
  for (const double ridge : {2.0, 20.0, 40.0}) {
    const Roofs roofs = roofs_of_ridge(ridge, Format::bf16);
    expect_true(grouped, "m:70/n:90/k:110/empty:5", "g", Format::bf16, roofs);
    expect_true(grouped, "g:16/n:90/k:110/empty:5", "m", Format::bf16, roofs);
    expect_true(grouped, "g:16/n:90/m:110/skew:1", "k", Format::bf16, roofs);
  }
  EXPECT_THAT([&] { (void)parse_open_shape("g:16/n:90/k:110/skew:1", "m", grouped); },
              ThrowsMessage<UsageError>(HasSubstr("--solve m and skew exclude each other")));
}

TEST(Solve, SizesThatNeverFitAreRefusedWithTheReason) {
  const Operation& attention = operation_of("attention_decode");
  const Roofs roofs = roofs_of_ridge(20, Format::bf16);
  const auto open = parse_open_shape("b:1/h:4/kv:3/d:64", "s", attention);
  EXPECT_THAT([&] { (void)solve_compute_bound(attention, open, Format::bf16, roofs); },
              ThrowsMessage<UsageError>(HasSubstr("allowed: h a multiple of kv")));
}

TEST(Solve, ATrafficThatFallsIsNotDecided) {
  Operation falling = operation_of("relu");
  falling.traffic = [](const Shape& s, FormatPair) { return 1e6 / static_cast<double>(s["n"]); };
  const Roofs roofs = roofs_of_ridge(20, Format::bf16);
  const auto open = parse_open_shape("", "n", falling);
  EXPECT_THAT([&] { (void)solve_compute_bound(falling, open, Format::bf16, roofs); },
              ThrowsMessage<UsageError>(HasSubstr("bytes of relu fall from n:1 to n:")));
}

}  // namespace
}  // namespace ridgebench
