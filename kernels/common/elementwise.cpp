#include "kernels/common/elementwise.hpp"

#include <array>
#include <cmath>

#include "kernels/common/sweep.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kRowLength = 256;

}  // namespace

Operation elementwise(const Elementwise& e) {
  Operation op;
  op.name = e.name;
  op.dimensions = {"n"};
  op.formats = {Format::fp32, Format::fp16, Format::bf16, Format::fp8_e4m3, Format::fp8_e5m2};
  op.flops = [e](const Shape& s) { return e.flops_per_element * static_cast<double>(s["n"]); };
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a, Access::read, {}, kRowLength}, {"y", s["n"], f.a, Access::written}};
  };
  op.row_length = [](const Shape&) { return kRowLength; };
  op.reference = [e](const Shape&, std::int64_t row, std::span<const View> in,
                     std::span<Expected> out) {
    std::array<double, kRowLength> x;
    in[0].read(row * kRowLength, std::span(x).first(out.size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double value = e.value(x[i]);
      out[i] = {value, e.norm != nullptr ? e.norm(x[i]) : std::abs(value)};
    }
  };
  op.reduction = [e](const Shape&) { return e.terms; };
  op.shapes = [](Profile profile, Pace pace, const Machine& machine) {
    return vector_sweep(profile, pace, machine, 2 * sizeof(float));
  };
  if (e.special_per_element > 0) {
    op.special = [e](const Shape& s) {
      return e.special_per_element * static_cast<double>(s["n"]);
    };
  }
  return op;
}

}  // namespace ridgebench
