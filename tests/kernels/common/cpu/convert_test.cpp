// The conversions of one instruction set level against those of format.hpp; the processor's own, at
// other levels, are tested through matmul (tests/kernels/matmul/host_matmul_test.cpp).
#include "kernels/common/cpu/convert.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace ridgepoint {
namespace {

template <class T>
class Convert : public testing::Test {};
using Narrow = testing::Types<Tf32, Fp16, Bf16, Fp8E4m3, Fp8E5m2>;
TYPED_TEST_SUITE(Convert, Narrow);

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

TYPED_TEST(Convert, WidensEveryCodePointAsDecodeDoes) {
  const auto all = code_points<TypeParam>();
  std::vector<float> block(all.size());
  for (std::size_t i = 0; i < all.size(); i += cpu::kBlock) {
    cpu::widen_block(&all[i], &block[i]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(same(decode(all[i]), cpu::widen(all[i]))) << std::hex << +all[i].bits;
    ASSERT_TRUE(same(decode(all[i]), block[i])) << std::hex << +all[i].bits;
  }
}

// Around every code point and every tie between two: the floats just below, at and just above.
TYPED_TEST(Convert, NarrowsAroundEveryRoundingBoundaryAsEncodeDoes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const TypeParam code : code_points<TypeParam>()) {
    const float value = decode(code);
    // The next code point's value for a positive one; half way between them is the tie.
    const TypeParam next{static_cast<decltype(TypeParam::bits)>(
        code.bits + (FormatOf<TypeParam>::value == Format::tf32 ? 1U << 13U : 1U))};
    const float tie = value / 2 + decode(next) / 2;
    for (const float at : {value, tie}) {
      for (const float x : {at, std::nextafter(at, -kInfinity), std::nextafter(at, kInfinity)}) {
        ASSERT_EQ(encode<TypeParam>(x).bits, cpu::narrow<TypeParam>(x).bits) << std::hexfloat << x;
      }
    }
  }
}

TYPED_TEST(Convert, NarrowsEveryExponentAsEncodeDoes) {
  // 2^20 floats spread over all exponents, infinities and NaN among them.
  std::vector<float> in(cpu::kBlock);
  std::vector<TypeParam> out(cpu::kBlock);
  for (std::uint64_t bits = 0; bits < 1ULL << 32U; bits += 4093ULL * cpu::kBlock) {
    for (std::size_t i = 0; i < cpu::kBlock; ++i) {
      in[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits + 4093 * i));
    }
    cpu::narrow_block(in.data(), out.data());
    for (std::size_t i = 0; i < cpu::kBlock; ++i) {
      ASSERT_EQ(encode<TypeParam>(in[i]).bits, out[i].bits) << std::hexfloat << in[i];
    }
  }
}

}  // namespace
}  // namespace ridgepoint
