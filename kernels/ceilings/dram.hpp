// Ceilings of main memory, one per traffic mix, as in McCalpin's STREAM: read (a sum), write (a
// fill), copy, and triad c = a + 3 b. fp32; bytes are those read and written, once.
#pragma once

#include <array>
#include <cmath>

#include "kernels/common/registry.hpp"
#include "kernels/common/sum_of_terms.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

inline constexpr float kTriadFactor = 3;

namespace dram_detail {

inline constexpr std::int64_t kRowLength = 256;

// The elements of a row, `count` of them.
using Block = std::array<double, kRowLength>;
inline Block block(View x, std::int64_t row, std::size_t count) {
  Block elements;
  x.read(row * kRowLength, std::span(elements).first(count));
  return elements;
}

inline Operand by_row(const char* name, const Shape& s, FormatPair f) {
  return {name, s["n"], f.a, Access::read, {}, kRowLength};
}

// Common part of the four; `arrays` of n elements move.
inline Operation dram(const std::string& name, double flops_per_element, int arrays) {
  Operation op;
  op.name = name;
  op.dimensions = {"n"};
  op.formats = {Format::fp32};
  op.flops = [=](const Shape& s) { return flops_per_element * static_cast<double>(s["n"]); };
  op.row_length = [](const Shape&) { return kRowLength; };
  op.reduction = [](const Shape&) { return 1.0; };
  op.shapes = [=](Profile profile, Pace, const Machine& machine) {
    const std::int64_t n = dram_elements(machine, arrays * static_cast<double>(sizeof(float)));
    std::vector<Shape> shapes{Shape({{"n", n}})};
    // The larger one shows that no cache had a part in the first.
    if (profile == Profile::full) shapes.push_back(Shape({{"n", 4 * n}}));
    return shapes;
  };
  op.ceiling = Ceiling{Resource::memory};
  return op;
}

inline Operation read() {
  Operation op = dram("dram_read", 1, 1);
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"sum", 1, f.a, Access::written}};
  };
  op.row_length = [](const Shape&) { return std::int64_t{1}; };
  op.reduction = [](const Shape& s) { return static_cast<double>(s["n"]); };
  op.reference = [](const Shape& s, std::int64_t, std::span<const View> in,
                    std::span<Expected> out) {
    out[0] = sum_of_terms(s["n"],
                          [&](std::int64_t first, std::span<double> x) { in[0].read(first, x); });
  };
  return op;
}

inline Operation write() {
  Operation op = dram("dram_write", 0, 1);
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"value", 1, f.a}, {"y", s["n"], f.a, Access::written}};
  };
  op.reference = [](const Shape&, std::int64_t, std::span<const View> in, std::span<Expected> out) {
    const double value = in[0][0];
    for (Expected& y : out) y = {value, std::abs(value)};
  };
  return op;
}

inline Operation copy() {
  Operation op = dram("dram_copy", 0, 2);
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {by_row("x", s, f), {"y", s["n"], f.a, Access::written}};
  };
  op.reference = [](const Shape&, std::int64_t row, std::span<const View> in,
                    std::span<Expected> out) {
    const Block x = block(in[0], row, out.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {x[i], std::abs(x[i])};
  };
  return op;
}

inline Operation triad() {
  Operation op = dram("dram_triad", 2, 3);
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {by_row("a", s, f), by_row("b", s, f), {"c", s["n"], f.a, Access::written}};
  };
  op.reduction = [](const Shape&) { return 2.0; };
  op.reference = [](const Shape&, std::int64_t row, std::span<const View> in,
                    std::span<Expected> out) {
    const Block a = block(in[0], row, out.size());
    const Block b = block(in[1], row, out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double scaled = kTriadFactor * b[i];
      out[i] = {a[i] + scaled, std::sqrt(a[i] * a[i] + scaled * scaled)};
    }
  };
  return op;
}

}  // namespace dram_detail

inline const RegisterOperation dram_read{dram_detail::read()};
inline const RegisterOperation dram_write{dram_detail::write()};
inline const RegisterOperation dram_copy{dram_detail::copy()};
inline const RegisterOperation dram_triad{dram_detail::triad()};

}  // namespace ridgebench
