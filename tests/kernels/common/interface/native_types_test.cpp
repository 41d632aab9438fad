#include "kernels/common/interface/native_types.hpp"

#include <gtest/gtest.h>

#include "kernels/common/registry.hpp"

// As a library of others has it.
namespace foreign {
struct Half {
  std::uint16_t storage;
};
}  // namespace foreign

template <>
struct ridgebench::FormatOf<foreign::Half>
    : ridgebench::NativeType<foreign::Half, ridgebench::Format::fp16> {};

namespace ridgebench {
namespace {

TEST(NativeTypesTest, ABindMayHaveThem) {
  const auto bind = [](Queue&, const Shape&, const std::int8_t*, const foreign::Half*,
                       const double*, std::int32_t*) -> Launch { return [] {}; };
  const Signature found = registry_detail::erase(bind).signature;
  ASSERT_EQ(found.count, 4U);
  EXPECT_EQ(found.parameters.at(0), (Parameter{Format::int8, true}));
  EXPECT_EQ(found.parameters.at(1), (Parameter{Format::fp16, true}));
  EXPECT_EQ(found.parameters.at(2), (Parameter{Format::fp64, true}));
  EXPECT_EQ(found.parameters.at(3), (Parameter{Format::int32, false}));
}

TEST(NativeTypesTest, TheyAreTheFormatsOfTheSuitesOwnTypes) {
  EXPECT_EQ(FormatOf<std::int8_t>::value, FormatOf<Int8>::value);
  EXPECT_EQ(FormatOf<foreign::Half>::value, FormatOf<Fp16>::value);
}

}  // namespace
}  // namespace ridgebench
