#include "harness/measure/buffers.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "harness/device/cpu/device.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::size_t kAlignment = 256;
constexpr unsigned char kStray = 0x5A;

// Operands of odd sizes: two inputs of one format, and one of another.
std::vector<Operand> operands(Format output = Format::fp32) {
  return {{"a", 1001, Format::bf16},
          {"b", 37, Format::bf16},
          {"c", 513, Format::fp8_e4m3},
          {"out", 333, output, Access::written}};
}

class BuffersTest : public ::testing::Test {
 protected:
  std::string_view content(void* data, const Operand& operand) {
    return {static_cast<const char*>(data), static_cast<std::size_t>(operand.bytes())};
  }

  // Writes one byte at `offset` from the first byte of an output.
  static void write_stray(void* output, std::ptrdiff_t offset) {
    static_cast<unsigned char*>(output)[offset] = kStray;
  }

  SimulatedDevice device_{Simulation{}};
  Buffers buffers_{device_, Fill::normal, 7};
};

TEST_F(BuffersTest, EveryOperandIsAligned) {
  for (const BufferSet& set : buffers_.allocate(operands(), 5)) {
    ASSERT_EQ(set.size(), operands().size());
    for (void* operand : set) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(operand) % kAlignment, 0);
    }
  }
}

TEST_F(BuffersTest, OperandsOfAllSetsAreDisjoint) {
  std::vector<std::string_view> views;
  for (const BufferSet& set : buffers_.allocate(operands(), 5)) {
    for (std::size_t i = 0; i < set.size(); ++i) views.push_back(content(set[i], operands()[i]));
  }
  std::ranges::sort(views, {}, &std::string_view::data);
  for (std::size_t i = 1; i < views.size(); ++i) {
    EXPECT_LE(views[i - 1].data() + views[i - 1].size(), views[i].data());
  }
}

TEST_F(BuffersTest, SetsHoldDifferentInputs) {
  const auto sets = buffers_.allocate(operands(), 2);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NE(content(sets[0][i], operands()[i]), content(sets[1][i], operands()[i]));
  }
}

TEST_F(BuffersTest, AnOperandInPlaceGetsItsFirstValuesBack) {
  const std::vector<Operand> shape{{"x", 333, Format::bf16, Access::updated},
                                   {"index", 100, Format::int32, Access::read, integers_below(7)}};
  const auto sets = buffers_.allocate(shape, 2);
  buffers_.reset();
  const std::string first(content(sets[0][0], shape[0]));
  const std::string second(content(sets[1][0], shape[0]));
  EXPECT_NE(first, second);
  std::string known(first.size(), 0);
  fill_random(known.data(), shape[0].elements, shape[0].format,
              own_values(shape[0], 0, 1, Fill::normal, 7), 1);
  EXPECT_EQ(second, known);
  std::memset(sets[0][0], 0, first.size());
  buffers_.reset();
  EXPECT_EQ(content(sets[0][0], shape[0]), first);
  const auto* const index = static_cast<const std::int32_t*>(sets[1][1]);
  EXPECT_TRUE(std::all_of(index, index + 100, [](int i) { return i >= 0 && i < 7; }));
  EXPECT_TRUE(buffers_.guards_intact());
  write_stray(sets[0][1], 400);  // just behind the indices
  EXPECT_FALSE(buffers_.guards_intact());
}

TEST_F(BuffersTest, TwoTechniquesGetTheSameInputs) {
  const std::vector<Operand> shape = operands();
  std::vector<std::string> first;
  for (const BufferSet& set : buffers_.allocate(shape, 3)) {
    for (std::size_t i = 0; i < 3; ++i) first.emplace_back(content(set[i], shape[i]));
  }
  // Larger and smaller rows run in between.
  const std::vector<Operand> other{{"x", 100000, Format::bf16},
                                   {"y", 9, Format::bf16, Access::written}};
  buffers_.allocate(other, 4);
  std::vector<std::string> second;
  for (const BufferSet& set : buffers_.allocate(shape, 3)) {
    for (std::size_t i = 0; i < 3; ++i) second.emplace_back(content(set[i], shape[i]));
  }
  EXPECT_EQ(first, second);
}

TEST_F(BuffersTest, MoreSetsOfTheSameBeginWithThoseThatWereThere) {
  const std::vector<Operand> shape = operands();
  const BufferSet first = buffers_.allocate(shape, 1, 5).front();
  std::string content_of_first(content(first[0], shape[0]));
  const auto sets = buffers_.allocate(shape, 5);
  EXPECT_EQ(sets.front(), first);
  EXPECT_EQ(content(first[0], shape[0]), content_of_first);
  Buffers at_once(device_, Fill::normal, 7);
  const auto same = at_once.allocate(shape, 5);
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(content(sets[set][i], shape[i]), content(same[set][i], shape[i])) << set << i;
    }
  }
}

TEST_F(BuffersTest, PoisonIsNanInEveryFormatAndSparesInputs) {
  for (const FormatInfo& f : kFormats) {
    if (f.whole()) continue;
    const std::vector<Operand> shape = operands(f.format);
    const auto sets = buffers_.allocate(shape, 2);
    const std::string input(content(sets[0][0], shape[0]));
    buffers_.reset();
    for (const BufferSet& set : sets) {
      const View output{set.back(), f.format};
      for (std::int64_t i = 0; i < shape.back().elements; ++i) {
        ASSERT_TRUE(std::isnan(output[i])) << f.name << " " << i;
      }
    }
    EXPECT_EQ(content(sets[0][0], shape[0]), input);
  }
}

TEST_F(BuffersTest, WritingTheWholeOutputLeavesTheGuardsIntact) {
  const auto sets = buffers_.allocate(operands(), 3);
  buffers_.reset();
  for (const BufferSet& set : sets) {
    std::memset(set.back(), kStray, static_cast<std::size_t>(operands().back().bytes()));
  }
  EXPECT_TRUE(buffers_.guards_intact());
}

TEST_F(BuffersTest, GuardsNoticeOneByteBeforeOrAfterAnyOutput) {
  const auto bytes = static_cast<std::ptrdiff_t>(operands().back().bytes());
  for (const std::size_t set : {0, 1, 2}) {
    for (const std::ptrdiff_t offset :
         {std::ptrdiff_t{-1}, std::ptrdiff_t{-64}, bytes, bytes + 63}) {
      const auto sets = buffers_.allocate(operands(), 3);
      buffers_.reset();
      write_stray(sets[set].back(), offset);
      EXPECT_FALSE(buffers_.guards_intact()) << "set " << set << " byte " << offset;
      buffers_.reset();
      EXPECT_TRUE(buffers_.guards_intact());
    }
  }
}

TEST_F(BuffersTest, RotationCoversSixTimesTheCache) {
  const auto cache = static_cast<double>(device_.machine().last_level_cache_bytes());
  const std::vector<Operand> shape = operands();
  double bytes = 0;
  for (const Operand& operand : shape) bytes += operand.bytes();
  const auto sets = static_cast<double>(buffers_.sets_to_rotate(shape));
  const double slack = 64 * static_cast<double>(shape.size());  // whole cache lines are touched
  EXPECT_GE(sets * (bytes + slack), 6 * cache);
  EXPECT_LT((sets - 1) * bytes, 6 * cache);
}

TEST_F(BuffersTest, RotationHasAtLeastOneSetAndIsBounded) {
  const std::vector<Operand> huge{{"x", std::int64_t{1} << 30, Format::fp32}};
  const std::vector<Operand> tiny{{"x", 1, Format::fp8_e4m3}};
  EXPECT_EQ(buffers_.sets_to_rotate(huge), 1);
  EXPECT_LE(buffers_.sets_to_rotate(tiny), kMaxSets);
}

class HugeCache : public CpuDevice {
 public:
  explicit HugeCache(double memory) : memory_(memory) {
    machine_.units = 1;
    machine_.caches = {{.level = 3, .bytes = std::int64_t{480} << 20U, .shared_by = 1}};
  }
  [[nodiscard]] double free_bytes() const override { return memory_; }

 private:
  double memory_;
};

TEST(Rotation, IsAtMostAGibibyteOnAHostAndSaysThatItIsShort) {
  HugeCache device(64e9);
  const Buffers buffers(device, Fill::zeros, 1);
  const std::vector<Operand> operands{{"x", std::int64_t{1} << 22U, Format::fp32}};  // 16 MiB
  EXPECT_EQ(buffers.sets_to_rotate(operands), 64);
  EXPECT_TRUE(buffers.rotation_is_short(operands, 64));
  EXPECT_TRUE(buffers.rotation_is_short(operands, 89));
  EXPECT_FALSE(buffers.rotation_is_short(operands, 90));
  EXPECT_TRUE(buffers.caches_may_serve(operands, 63));
  EXPECT_FALSE(buffers.caches_may_serve(operands, 64)) << "as long as that of the ceilings";
}

// Of 64 MiB in memory, a launch touches 16 MiB.
TEST(Rotation, CountsNeitherGapsNorElementsThatNoLaunchNeeds) {
  HugeCache device(64e9);
  const Buffers buffers(device, Fill::zeros, 1);
  constexpr std::int64_t kInMemory = std::int64_t{1} << 24U;
  const Operand rows{
      .name = "x", .elements = kInMemory, .format = Format::fp32, .rows = {256, 1024}};
  const Operand lines{// an element each
                      .name = "x",
                      .elements = kInMemory,
                      .format = Format::fp32,
                      .rows = {1, 64}};
  const Operand groups{
      .name = "x", .elements = kInMemory, .format = Format::fp32, .unread = kInMemory / 4 * 3};
  for (const Operand& operand : {rows, lines, groups}) {
    const std::vector<Operand> operands{operand};
    EXPECT_EQ(buffers.sets_to_rotate(operands), 64);
    EXPECT_TRUE(buffers.caches_may_serve(operands, 63));
    EXPECT_FALSE(buffers.caches_may_serve(operands, 64));
  }
}

TEST(Footprint, HasTheListOfTheGapsOfAnOutput) {
  Operand column{.name = "c",
                 .elements = 2'000'000,
                 .format = Format::fp32,
                 .access = Access::written,
                 .rows = {1, 2}};
  const double with_gaps = Buffers::footprint({&column, 1}, 1);
  column.rows = {};
  EXPECT_EQ(with_gaps - Buffers::footprint({&column, 1}, 1),
            1'000'000.0 * sizeof(DeviceMemory::Region));
}

TEST(Rotation, TakesAtMostHalfOfTheMemory) {
  HugeCache device(400 << 20U);
  const Buffers buffers(device, Fill::zeros, 1);
  const std::vector<Operand> operands{{"x", std::int64_t{1} << 22U, Format::fp32}};
  EXPECT_EQ(buffers.sets_to_rotate(operands), 12);
}

TEST_F(BuffersTest, FootprintCountsEverySet) {
  double bytes = 0;
  for (const Operand& operand : operands()) bytes += operand.bytes();
  EXPECT_GE(Buffers::footprint(operands(), 1), bytes);
  EXPECT_EQ(Buffers::footprint(operands(), 6), 6 * Buffers::footprint(operands(), 1));
}

TEST(BuffersMemory, TooLargeARowSaysWhatItAskedForAndWhatIsFree) {
  SimulatedDevice device(parse_simulation("memory=100000"));
  Buffers buffers(device, Fill::normal, 1);
  const std::vector<Operand> shape{{"y", 1 << 20, Format::fp32, Access::written}};
  EXPECT_THAT([&] { buffers.allocate(shape, 1); },
              ThrowsMessage<OutOfMemory>(
                  AllOf(HasSubstr("needs 4195584 bytes"), HasSubstr("100000 bytes are free"))));
}

TEST(BuffersMemory, WhatIsHeldAlreadyCountsAsFree) {
  SimulatedDevice device(parse_simulation("memory=100000"));
  Buffers buffers(device, Fill::normal, 1);
  const std::vector<Operand> shape{{"y", 20000, Format::fp32, Access::written}};
  for (int row = 0; row < 3; ++row) EXPECT_NO_THROW(buffers.allocate(shape, 1));
}

// A device with this number of bytes.
class SmallMemory : public CpuDevice {
 public:
  explicit SmallMemory(double bytes) : queue_(bytes) {}
  [[nodiscard]] Queue& queue() override { return queue_; }
  [[nodiscard]] double free_bytes() const override { return queue_.left; }

 private:
  class SmallQueue : public HostQueue {
   public:
    explicit SmallQueue(double bytes) : left(bytes) {}
    [[nodiscard]] std::shared_ptr<void> allocate(std::size_t bytes) override {
      const auto size = static_cast<double>(bytes);
      if (size > left) throw OutOfMemory(size, left);
      left -= size;
      const std::shared_ptr<void> memory = HostQueue::allocate(bytes);
      return {memory.get(), [this, size, memory](void*) { left += size; }};
    }

    double left;
  };

  SmallQueue queue_;
};

TEST(BuffersMemory, InputsOfOtherFormatsGiveWayAndComeBackAsTheyWere) {
  constexpr std::int64_t kElements = 500000;
  SmallMemory device(7 * kElements);
  Buffers buffers(device, Fill::normal, 1);
  const auto row = [&](Format format) {
    const std::vector<Operand> shape{{"x", kElements, format},
                                     {"y", kElements, Format::fp8_e4m3, Access::written}};
    const auto* x = static_cast<const char*>(buffers.allocate(shape, 1).front().front());
    return std::string(x, static_cast<std::size_t>(shape.front().bytes()));
  };
  const std::string bf16 = row(Format::bf16);
  const std::string fp16 = row(Format::fp16);
  EXPECT_NE(fp16, bf16);
  EXPECT_NO_THROW(row(Format::fp32));  // 4 of 7 bytes an element, next to 1 of the output
  EXPECT_EQ(row(Format::bf16), bf16);
  EXPECT_EQ(row(Format::fp16), fp16);
}

}  // namespace
}  // namespace ridgebench
