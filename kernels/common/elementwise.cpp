#include "kernels/common/elementwise.hpp"

#include <cmath>

#include "kernels/common/sweep.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kRowLength = 256;

std::vector<Operand> operands_of(const Pointwise& p, const Shape& shape, FormatPair formats) {
  std::vector<Operand> operands;
  for (const PointwiseOperand& o : p.operands) {
    const std::int64_t by_row = o.access == Access::written ? 0 : kRowLength;
    operands.push_back({o.name, shape["n"], o.format(formats), o.access, o.values, by_row});
  }
  return operands;
}

// Row `row` of every output, one behind the other, in `out`.
void reference_row(const PointwiseBlock& block, std::int64_t row, std::span<const View> in,
                   std::size_t outputs, std::span<Expected> out) {
  const std::size_t count = out.size() / outputs;
  std::vector<std::array<double, kRowLength>> values(in.size());
  std::vector<const double*> inputs;
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i].read(row * kRowLength, std::span(values[i]).first(count));
    inputs.push_back(values[i].data());
  }
  std::vector<Expected*> rows;
  for (std::size_t i = 0; i < outputs; ++i) rows.push_back(out.data() + i * count);
  block(inputs, rows, count);
}

}  // namespace

Operation pointwise(const Pointwise& p) {
  Operation op;
  op.name = p.name;
  op.dimensions = {"n"};
  op.of_step = p.of_step;
  op.formats = p.formats;
  op.flops = [flops = p.flops_per_element](const Shape& s) {
    return flops * static_cast<double>(s["n"]);
  };
  op.operands = [p](const Shape& s, FormatPair f) { return operands_of(p, s, f); };
  op.row_length = [](const Shape&) { return kRowLength; };
  std::size_t outputs = 0;
  for (const PointwiseOperand& o : p.operands) outputs += o.access == Access::read ? 0 : 1;
  op.reference = [block = p.block, outputs](const Shape&, std::int64_t row,
                                            std::span<const View> in, std::span<Expected> out) {
    reference_row(block, row, in, outputs, out);
  };
  op.reduction = [terms = p.terms](const Shape&) { return terms; };
  op.shapes = [bytes = bytes(op, unit_shape(op), p.formats.front())](Profile profile, Pace pace,
                                                                     const Machine& machine) {
    return vector_sweep(profile, pace, machine, bytes);
  };
  if (p.special_per_element > 0) {
    op.special = [special = p.special_per_element](const Shape& s) {
      return special * static_cast<double>(s["n"]);
    };
  }
  return op;
}

Operation elementwise(const Elementwise& e) {
  return pointwise({
      .name = e.name,
      .formats = {Format::fp32, Format::fp16, Format::bf16, Format::fp8_e4m3, Format::fp8_e5m2},
      .flops_per_element = e.flops_per_element,
      .operands = {{"x"}, {"y", Access::written}},
      .block = each_element<1, 1>([e](const std::array<double, 1>& x) {
        const double value = e.value(x[0]);
        return std::array{Expected{value, e.norm != nullptr ? e.norm(x[0]) : std::abs(value)}};
      }),
      .terms = e.terms,
      .special_per_element = e.special_per_element,
  });
}

}  // namespace ridgebench
