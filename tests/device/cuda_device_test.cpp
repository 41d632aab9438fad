// The device adapter on the GPU: its memory agrees with the host's, its times with each other.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "harness/device/cpu/memory.hpp"
#include "kernels/common/error.hpp"
#include "tests/device/device_fixture.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kElements = 100'003;

class DeviceArray {
 public:
  DeviceArray(Device& device, std::size_t bytes)
      : memory_(device.queue().allocate(bytes)), bytes_(bytes) {}
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }
  [[nodiscard]] DeviceMemory::Region region() const { return {data(), bytes_}; }

 private:
  std::shared_ptr<void> memory_;
  std::size_t bytes_;
};

class Memory : public DeviceTest {};

TEST_F(Memory, FillsWithTheBitsThatAHostHas) {
  HostMemory host(4);
  for (const FormatInfo& f : kFormats) {
    for (const Fill fill : {Fill::normal, Fill::uniform, Fill::zeros, Fill::integers}) {
      const auto bytes = static_cast<std::size_t>(kElements * f.storage_bytes);
      std::vector<std::byte> expected(bytes);
      host.fill(expected.data(), kElements, f.format, {.fill = fill, .seed = 11, .stream = 2});
      const DeviceArray array(device(), bytes);
      // In two parts, as an arena that grows.
      constexpr std::int64_t half = kElements / 2 / kElementsPerBlock * kElementsPerBlock;
      device().memory().fill(array.data(), half, f.format, {.fill = fill, .seed = 11, .stream = 2});
      device().memory().fill(array.data() + half * f.storage_bytes, kElements - half, f.format,
                             {.fill = fill, .seed = 11, .stream = 2, .first = half});
      HostBuffer copy;
      const DeviceMemory::Region region = array.region();
      EXPECT_EQ(std::memcmp(device().memory().on_host({&region, 1}, copy), expected.data(), bytes),
                0)
          << f.name << " " << name(fill);
    }
  }
}

TEST_F(Memory, FillsOwnValuesWithTheBitsThatAHostHas) {
  HostMemory host(4);
  for (const FormatInfo& f : kFormats) {
    for (const Values values : {uniform(-2.5, 7), integers_below(1000)}) {
      const RandomStream from{.values = values, .seed = 11, .stream = 2, .first = 8};
      const auto bytes = static_cast<std::size_t>(kElements * f.storage_bytes);
      std::vector<std::byte> expected(bytes);
      host.fill(expected.data(), kElements, f.format, from);
      const DeviceArray array(device(), bytes);
      device().memory().fill(array.data(), kElements, f.format, from);
      HostBuffer copy;
      const DeviceMemory::Region region = array.region();
      EXPECT_EQ(std::memcmp(device().memory().on_host({&region, 1}, copy), expected.data(), bytes),
                0)
          << f.name;
    }
  }
}

TEST_F(Memory, SetsAndHoldsManyRegions) {
  const DeviceArray array(device(), 1 << 20U);
  std::vector<DeviceMemory::Region> all;
  for (std::size_t i = 0; i < 100; ++i)
    all.push_back(array.region().subspan(i * 10007, 1 + i * 90));
  device().memory().set(all, 0xA5);
  EXPECT_TRUE(device().memory().holds(all, 0xA5));
  const DeviceMemory::Region one = all[57].subspan(all[57].size() - 1);
  device().memory().set({&one, 1}, 0xA4);
  EXPECT_FALSE(device().memory().holds(all, 0xA5));
}

TEST_F(Memory, FindsASingleNan) {
  const DeviceArray array(device(), kElements * sizeof(double));
  for (const FormatInfo& f : kFormats) {
    if (f.whole()) continue;
    device().memory().fill(array.data(), kElements, f.format, {.seed = 1, .stream = 1});
    EXPECT_FALSE(device().memory().has_nan(array.data(), kElements, f.format));
    const auto last = static_cast<std::size_t>((kElements - 1) * f.storage_bytes);
    const DeviceMemory::Region region(array.data() + last,
                                      static_cast<std::size_t>(f.storage_bytes));
    device().memory().set({&region, 1}, 0xFF);
    EXPECT_TRUE(device().memory().has_nan(array.data(), kElements, f.format)) << f.name;
  }
}

TEST_F(Memory, AChecksumChangesWithAnyByteAndWithTheirOrder) {
  const DeviceArray array(device(), kElements);
  device().memory().fill(array.data(), kElements, Format::fp8_e4m3, {.seed = 1, .stream = 1});
  const std::uint64_t before = device().memory().checksum(array.region());
  EXPECT_EQ(device().memory().checksum(array.region()), before);
  for (const std::size_t at : {std::size_t{0}, std::size_t{4097}, std::size_t{kElements - 1}}) {
    const DeviceMemory::Region one = array.region().subspan(at, 1);
    device().memory().set({&one, 1}, 0x77);
    EXPECT_NE(device().memory().checksum(array.region()), before) << at;
    device().memory().fill(array.data(), kElements, Format::fp8_e4m3, {.seed = 1, .stream = 1});
  }
  EXPECT_NE(device().memory().checksum(array.region().subspan(8)),
            device().memory().checksum(array.region().first(kElements - 8)));
}

TEST_F(Memory, FindsWrongBitsAsAHostDoes) {
  constexpr std::size_t bytes = (std::size_t{1} << 20U) - 3;  // the last word lacks bytes
  const DeviceArray found(device(), bytes);
  const DeviceArray expected(device(), bytes);
  const std::array all{found.region(), expected.region()};
  device().memory().set(all, 0x5A);
  EXPECT_EQ(device().memory().compare(all[0], all[1]).words, 0);
  constexpr std::array changed{std::byte{0x5B}};
  for (const std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1}) {
    device().memory().write(found.data() + at, changed);
  }
  HostMemory host(4);
  HostBuffer a;
  HostBuffer b;
  const auto on_host = [&](const DeviceMemory::Region& region, HostBuffer& copy) {
    const std::byte* const data = device().memory().on_host({&region, 1}, copy);
    return std::vector<std::byte>(data, data + bytes);
  };
  std::vector<std::byte> host_found = on_host(all[0], a);
  std::vector<std::byte> host_expected = on_host(all[1], b);
  const WrongBits wrong = device().memory().compare(all[0], all[1]);
  const WrongBits right = host.compare(host_found, host_expected);
  EXPECT_EQ(wrong.words, 3);
  EXPECT_EQ(wrong.bits, right.bits);
  ASSERT_EQ(wrong.first.size(), right.first.size());
  for (std::size_t i = 0; i < right.first.size(); ++i) {
    EXPECT_EQ(wrong.first[i].index, right.first[i].index);
    EXPECT_EQ(wrong.first[i].found, right.first[i].found);
  }
  EXPECT_EQ(device().memory().checksum(all[0]), host.checksum(host_found));
}

TEST_F(Memory, FindsWordsOffAPattern) {
  const DeviceArray array(device(), 1 << 20U);
  constexpr std::array changed{std::byte{0x5B}, std::byte{0x5B}};
  for (std::size_t kind = 0; kind < names_of(PatternKind{}).names.size(); ++kind) {
    const MemoryPattern pattern{.kind = static_cast<PatternKind>(kind), .seed = 3};
    device().memory().write_pattern(array.region(), pattern);
    EXPECT_EQ(device().memory().compare(array.region(), pattern).words, 0) << kind;
    device().memory().write(array.data() + 800, changed);
    const WrongBits wrong = device().memory().compare(array.region(), pattern);
    ASSERT_EQ(wrong.words, 1) << kind;
    EXPECT_EQ(wrong.first.front().index, 100U);
  }
}

TEST_F(Memory, FindsTheLargestDifferenceAsAHostDoes) {
  const DeviceArray x(device(), kElements * 2);
  const DeviceArray y(device(), kElements * 2);
  std::vector<std::byte> host_x(kElements * 2);
  std::vector<std::byte> host_y(kElements * 2);
  HostMemory host(4);
  for (const Format format : {Format::fp16, Format::bf16, Format::fp8_e5m2}) {
    device().memory().fill(x.data(), kElements, format, {.seed = 1, .stream = 1});
    device().memory().fill(y.data(), kElements, format, {.seed = 2, .stream = 1});
    host.fill(host_x.data(), kElements, format, {.seed = 1, .stream = 1});
    host.fill(host_y.data(), kElements, format, {.seed = 2, .stream = 1});
    EXPECT_DOUBLE_EQ(
        device().memory().largest_difference(x.data(), y.data(), kElements, format, 0.1, 0.01),
        host.largest_difference(host_x.data(), host_y.data(), kElements, format, 0.1, 0.01));
    EXPECT_EQ(device().memory().largest_difference(x.data(), x.data(), kElements, format, 0, 0), 0);
  }
}

TEST_F(Memory, TooLargeAnAllocationSaysWhatIsFree) {
  EXPECT_THROW(static_cast<void>(device().queue().allocate(std::size_t{1} << 50U)), OutOfMemory);
  EXPECT_NO_THROW(static_cast<void>(device().queue().allocate(1)));
}

class Adapter : public DeviceTest {};

TEST_F(Adapter, KnowsItsTicksAndGaps) {
  const auto identity = device().identity();
  EXPECT_GT(device().tick_s(), 1e-9);
  EXPECT_LE(device().tick_s(), 1e-6);
  EXPECT_GT(identity["graph_gap_s"], 1e-7);
  EXPECT_LT(identity["graph_gap_s"], 1e-5);
  EXPECT_LT(identity["graph_gap_s"], identity["launch_gap_s"]);
  EXPECT_GT(device().machine().units, 0);
  EXPECT_GE(device().machine().compute_capability, 80);
}

TEST_F(Adapter, IdentityIsStrictJson) {
  EXPECT_NO_THROW(static_cast<void>(device().identity().dump()));
  EXPECT_EQ(device().identity()["name"], "cuda:0");
}

// A product of fp32 by a technique, on memory of its own.
class Product {
 public:
  Product(Device& device, std::string_view technique, std::int64_t n)
      : a_(device, bytes(n)), b_(device, bytes(n)), c_(device, bytes(n)) {
    const auto& all = Registry::instance().implementations();
    const auto found = std::ranges::find_if(all, [&](const auto& i) {
      return i->backend == Backend::cuda && i->operation->name == "matmul" &&
             i->technique.name == technique && i->format == FormatPair(Format::fp32);
    });
    const std::array<void*, 3> operands{a_.data(), b_.data(), c_.data()};
    const Shape shape({{"m", n}, {"n", n}, {"k", n}}, Layout::nt);
    const Plan plan = (*found)->prepare ? (*found)->prepare(device.queue(), shape) : nullptr;
    launch = [plan, bound = (*found)->bind(device.queue(), plan, shape, operands)] { bound(); };
    device.run(launch);
  }

  Launch launch;

 private:
  static std::size_t bytes(std::int64_t n) { return static_cast<std::size_t>(n * n) * 4; }
  DeviceArray a_, b_, c_;
};

// The persistent kernels of Hopper start early, unless the queue does not allow it.
TEST_F(Adapter, KnowsWhichLaunchesStartEarly) {
  if (device().machine().compute_capability != 90) GTEST_SKIP() << "needs compute capability 9.0";
  const auto early = [](std::string_view technique) {
    const Product product(device(), technique, 256);
    return device().early(product.launch).early;
  };
  EXPECT_EQ(early("naive"), false);
  EXPECT_EQ(early("ffma_tma"), true);
  device().queue().allow_early_launches(false);
  EXPECT_EQ(early("ffma_tma"), false);
  device().queue().allow_early_launches(true);
}

TEST_F(Adapter, TimesTurns) {
  const Product product(device(), "naive", 1024);
  const std::vector<Turn> turns{{&product.launch, 2}, {&product.launch, 2}, {&product.launch, 8}};
  const std::vector<double> seconds = device().queue().time_turns(turns);
  ASSERT_EQ(seconds.size(), 3U);
  EXPECT_NEAR(seconds[2] / seconds[1], 4, 1);
}

// Without the library, tests of its techniques would find them unsupported and pass.
TEST_F(Adapter, KnowsCublas) { EXPECT_TRUE(device().identity().contains("cublas")); }

}  // namespace
}  // namespace ridgebench
