// Compares the conversions of one instruction set with those of format.hpp. The including file
// defines RIDGEBENCH_ISA and RIDGEBENCH_ISA_LEVEL, as the build does for kernels, and CONVERT, the
// name of the tests.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/cpu/convert.hpp"

#include "kernels/common/cpu/target_begin.hpp"

namespace ridgebench {
namespace {

template <class T>
[[gnu::noinline]] void widen_block(const T* in, float* out) {
  cpu::widen_block(in, out);
}
template <class T>
[[gnu::noinline]] void narrow_block(const float* in, T* out) {
  cpu::narrow_block(in, out);
}

}  // namespace
}  // namespace ridgebench
#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

template <class T>
class CONVERT : public testing::Test {
 protected:
  void SetUp() override {
    if (host_isa() < cpu::kIsa) GTEST_SKIP() << "needs " << name(cpu::kIsa);
  }
};
using Narrow = testing::Types<Tf32, Fp16, Bf16, Fp8E4m3, Fp8E5m2>;
TYPED_TEST_SUITE(CONVERT, Narrow);

bool same(float x, float y) {
  return std::isnan(x) ? std::isnan(y)
                       : std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
}

// Every code point; of tf32, every 997th.
template <class T>
std::vector<T> code_points() {
  std::vector<T> all;
  constexpr std::uint64_t kStride = sizeof(T) == 4 ? 997ULL << 13U : 1;
  for (std::uint64_t bits = 0; bits < 1ULL << (8 * sizeof(T)); bits += kStride) {
    all.push_back(T{static_cast<decltype(T::bits)>(bits)});
  }
  all.resize(all.size() / cpu::kBlock * cpu::kBlock);
  return all;
}

// The processor's own conversion to fp16 keeps the upper bits of a NaN's payload.
template <class T>
bool rounded(float x, T to) {
  const bool keeps = cpu::kFp16Lanes > 0 && FormatOf<T>::value == Format::fp16;
  return keeps && std::isnan(x) ? std::isnan(decode(to)) : encode<T>(x).bits == to.bits;
}

TYPED_TEST(CONVERT, WidensEveryCodePointAsDecodeDoes) {
  const auto all = code_points<TypeParam>();
  std::vector<float> block(all.size());
  for (std::size_t i = 0; i < all.size(); i += cpu::kBlock) {
    widen_block(&all[i], &block[i]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(same(decode(all[i]), cpu::widen(all[i]))) << std::hex << +all[i].bits;
    ASSERT_TRUE(same(decode(all[i]), block[i])) << std::hex << +all[i].bits;
  }
}

// For every code point and every tie between two: the floats just below, at and just above it.
template <class T>
std::vector<float> around_boundaries() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> all;
  for (const T code : code_points<T>()) {
    const float value = decode(code);
    // The next code point's value for a positive one; half way between them is the tie.
    const T next{static_cast<decltype(T::bits)>(
        code.bits + (FormatOf<T>::value == Format::tf32 ? 1U << 13U : 1U))};
    const float tie = value / 2 + decode(next) / 2;
    for (const float at : {value, tie}) {
      all.insert(all.end(), {at, std::nextafter(at, -kInfinity), std::nextafter(at, kInfinity)});
    }
  }
  return all;  // whole blocks, as code_points
}

TYPED_TEST(CONVERT, NarrowsAroundEveryRoundingBoundaryAsEncodeDoes) {
  const std::vector<float> in = around_boundaries<TypeParam>();
  std::vector<TypeParam> block(in.size());
  for (std::size_t i = 0; i < in.size(); i += cpu::kBlock) narrow_block(&in[i], &block[i]);
  for (std::size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(encode<TypeParam>(in[i]).bits, cpu::narrow<TypeParam>(in[i]).bits)
        << std::hexfloat << in[i];
    ASSERT_TRUE(rounded(in[i], block[i])) << std::hexfloat << in[i];
  }
}

TYPED_TEST(CONVERT, NarrowsEveryExponentAsEncodeDoes) {
  // 2^20 floats spread over all exponents, with infinities and NaN.
  std::vector<float> in(cpu::kBlock);
  std::vector<TypeParam> out(cpu::kBlock);
  for (std::uint64_t bits = 0; bits < 1ULL << 32U; bits += 4093ULL * cpu::kBlock) {
    for (std::size_t i = 0; i < cpu::kBlock; ++i) {
      in[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits + 4093 * i));
    }
    narrow_block(in.data(), out.data());
    for (std::size_t i = 0; i < cpu::kBlock; ++i) {
      ASSERT_TRUE(rounded(in[i], out[i])) << std::hexfloat << in[i];
    }
  }
}

}  // namespace
}  // namespace ridgebench
