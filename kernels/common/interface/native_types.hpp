// Pointers of native types in `bind`: std::int8_t here, those of CUDA's headers in
// kernels/common/cuda/native_types.cuh. They have the bits of the suite's own types.
//
// A type of another library is named once, for instance of CUTLASS:
//   template <>
//   struct ridgebench::FormatOf<cutlass::half_t>
//       : ridgebench::NativeType<cutlass::half_t, ridgebench::Format::fp16> {};
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/common/format.hpp"

namespace ridgebench {

// The format of a type that stores one element as the suite does.
template <class T, Format F>
struct NativeType {
  static_assert(sizeof(T) == info(F).storage_bytes, "the type has another size than the format");
  static_assert(std::is_trivially_copyable_v<T>, "the type is not plain bits");
  static constexpr Format value = F;
};

template <>
struct FormatOf<std::int8_t> : NativeType<std::int8_t, Format::int8> {};

}  // namespace ridgebench
