// Ceilings of a GPU's conversions between fp32 and the narrow formats, two numbers at a time:
// convert_narrow rounds fp32 to the format, convert_widen goes the other way. Every number
// converted is a new one, and the sum of all results' bits, as integers, is compared with the
// reference's: one wrong bit shows. One FLOP is counted for a conversion of a number, none for what
// stands beside it:
//   narrow: per 24 conversions 4 additions that change the inputs and 6 that add up results, and in
//     fp8 12 that cut its 16 bits out of a register
//   widen: per 32 conversions 18 integer operations that change the inputs and 16 that add up
//   results
// From bf16 an instruction moves bits, and to and from fp8 the way leads through fp16: the ceiling
// is that of the sequence that kernels use (kernels/common/cuda/types.cuh).
#pragma once

#include <array>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

inline constexpr std::int64_t kConvertIterations = 256;
inline constexpr float kConvertStep = 1.0F / kConvertIterations;  // exact
// Numbers that a chain starts from: element k of chain c is x[k * chains + c].
inline constexpr int kNarrowInputs = 4;
inline constexpr int kWidenInputs = 32;
// Conversions of a chain per iteration. Narrow: every input beside every other, in both orders.
inline constexpr int kNarrowConversions = 2 * kNarrowInputs * (kNarrowInputs - 1);
inline constexpr int kWidenConversions = kWidenInputs;

// The bits in which widened numbers differ from iteration to iteration: those of the mantissa, so
// that infinities and NaN, whose bits are not the same everywhere, cannot arise.
constexpr std::uint32_t mantissa_mask(Format format) {
  return (1U << info(format).mantissa_bits) - 1U;
}

// A sum of bits, modulo 2^32, as a number that fp32 holds exactly.
constexpr float folded(std::uint32_t sum) {
  return static_cast<float>((sum >> 16U) + (sum & 0xffffU));
}

namespace convert_detail {

// Two neighbours as the bits of one word, the first in the low half.
inline std::uint32_t word_of(Format format, std::uint32_t first, std::uint32_t second) {
  return first | second << (8U * static_cast<unsigned>(info(format).storage_bytes));
}

using Start = std::function<double(int input)>;

inline std::uint32_t narrow(Format format, std::int64_t iterations, const Start& start) {
  std::array<float, kNarrowInputs> value{};
  for (int k = 0; k < kNarrowInputs; ++k) value[k] = static_cast<float>(start(k));
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < iterations; ++i) {
    std::array<std::uint32_t, kNarrowInputs> bits{};
    for (int k = 0; k < kNarrowInputs; ++k) {
      value[k] += kConvertStep;
      bits[k] = encode_bits(info(format), value[k]);
    }
    for (int k = 0; k < kNarrowInputs; ++k) {
      for (int l = 0; l < kNarrowInputs; ++l) {
        if (l != k) sum += word_of(format, bits[k], bits[l]);
      }
    }
  }
  return sum;
}

inline std::uint32_t widen(Format format, std::int64_t iterations, const Start& start) {
  std::array<std::uint32_t, kWidenInputs> bits{};
  for (int k = 0; k < kWidenInputs; ++k) {
    bits[k] = encode_bits(info(format), static_cast<float>(start(k)));
  }
  std::uint32_t sum = 0;
  for (std::int64_t i = 1; i <= iterations; ++i) {
    const std::uint32_t change = static_cast<std::uint32_t>(i) & mantissa_mask(format);
    for (const std::uint32_t b : bits) {
      sum += std::bit_cast<std::uint32_t>(decode_bits(info(format), b ^ change));
    }
  }
  return sum;
}

inline Operation convert(const std::string& name, Resource resource,
                         std::vector<FormatPair> formats, int inputs, int conversions,
                         std::uint32_t (*sum_of_bits)(Format, std::int64_t, const Start&)) {
  Operation op;
  op.name = name;
  op.dimensions = {"chains", "iterations"};
  op.formats = std::move(formats);
  op.flops = [=](const Shape& s) {
    return static_cast<double>(s["chains"]) * conversions * static_cast<double>(s["iterations"]);
  };
  op.operands = [=](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", inputs * s["chains"], f.a}, {"sum", s["chains"], Format::fp32, Access::written}};
  };
  op.row_length = [](const Shape&) { return std::int64_t{32}; };
  op.reference = [=](const Shape& s, std::int64_t row, std::span<const View> in,
                     std::span<Expected> out) {
    std::int64_t chain = 32 * row;
    for (Expected& sum : out) {
      const auto start = [&](int k) { return in[0][k * s["chains"] + chain]; };
      sum = {folded(sum_of_bits(in[0].format, s["iterations"], start)), 0};  // no error is allowed
      ++chain;
    }
  };
  op.reduction = [=](const Shape& s) { return conversions * static_cast<double>(s["iterations"]); };
  // Some milliseconds at 64 instructions per clock; hosts convert among other things only.
  op.shapes = [](Profile, Pace, const Machine& machine) -> std::vector<Shape> {
    if (machine.compute_capability == 0) return {};
    return {Shape(
        {{"chains", 8 * kWholeWaveThreads * machine.units}, {"iterations", kConvertIterations}})};
  };
  // Two conversions by one instruction are not in NVIDIA's table of throughputs.
  op.ceiling = Ceiling{.resource = resource};
  return op;
}

}  // namespace convert_detail

inline const RegisterOperation convert_narrow{
    convert_detail::convert("convert_narrow", Resource::narrow,
                            {Format::fp16, Format::bf16, Format::fp8_e4m3, Format::fp8_e5m2},
                            kNarrowInputs, kNarrowConversions, convert_detail::narrow)};
inline const RegisterOperation convert_widen{convert_detail::convert(
    "convert_widen", Resource::widen, {Format::fp16, Format::fp8_e4m3, Format::fp8_e5m2},
    kWidenInputs, kWidenConversions, convert_detail::widen)};

}  // namespace ridgebench
