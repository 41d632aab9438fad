// Rotary position embedding: each pair (x[i], x[i + d/2]) of a head of d elements is rotated by an
// angle of its token's position; Su et al., arXiv 2104.09864, with the pairs of Llama. x and y are
// (b, s, h, d), row-major: b sequences of s tokens with h heads each. The angles are an operand:
// table (s, d) in fp32 has the cosines of a position's d/2 angles, then their sines, and the
// sequences share it. Tokens at positions of their own, as in decoding, are one sequence: b = 1.
//
//   y[i] = x[i] cos_i - x[i + d/2] sin_i,  y[i + d/2] = x[i + d/2] cos_i + x[i] sin_i
//
// 3bshd FLOPs: four multiplications, a subtraction and an addition for each pair. Bytes: x and the
// table are read once and y is written once, 2 w bshd + 4sd for formats of w bytes. No kernel
// relies on cos^2 + sin^2 = 1, and a run fills the table as it fills x.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/norm.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

namespace rope_detail {

inline Shape shape(std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t d) {
  return Shape({{"b", b}, {"s", std::max<std::int64_t>(s, 1)}, {"h", h}, {"d", d}});
}

// Two sequences with the 32 query heads of Llama 3 8B, then its 8 key heads, and shorter ones.
inline std::vector<Shape> sweep(Profile profile, Pace pace, const Machine& machine) {
  if (profile == Profile::lecture) return {};
  const std::int64_t elements = most_elements(pace, machine, 2 * sizeof(float));
  const auto add = [&](std::vector<Shape>& shapes, std::int64_t all, std::int64_t h,
                       std::int64_t d) { shapes.push_back(shape(2, all / (2 * h * d), h, d)); };
  std::vector<Shape> shapes;
  add(shapes, elements, 32, 128);
  if (at_least_standard(profile)) {
    add(shapes, elements, 8, 128);
    add(shapes, elements / 64, 32, 128);
  }
  if (profile == Profile::full) {
    add(shapes, elements, 32, 64);
    add(shapes, elements, 8, 256);
  }
  return shapes;
}

inline void reference(const Shape& s, std::int64_t row, std::span<const View> in,
                      std::span<Expected> out) {
  const std::int64_t d = s["d"];
  const std::int64_t position = row / s["h"] % s["s"];
  std::vector<double> x(static_cast<std::size_t>(d));
  std::vector<double> angles(x.size());
  in[0].read(row * d, x);
  in[1].read(position * d, angles);
  const std::size_t half = x.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const double cosine = angles[i];
    const double sine = angles[half + i];
    out[i] = {x[i] * cosine - x[half + i] * sine, norm_of(x[i] * cosine, x[half + i] * sine)};
    out[half + i] = {x[half + i] * cosine + x[i] * sine,
                     norm_of(x[half + i] * cosine, x[i] * sine)};
  }
}

inline double elements(const Shape& s) {
  return static_cast<double>(s["b"]) * static_cast<double>(s["s"]) * static_cast<double>(s["h"]) *
         static_cast<double>(s["d"]);
}

}  // namespace rope_detail

inline const RegisterOperation rope{{
    .name = "rope",
    .dimensions = {"b", "s", "h", "d"},
    .of_step = true,
    .formats = {Format::fp32, Format::fp16, Format::bf16},
    .flops = [](const Shape& s) { return 3 * rope_detail::elements(s); },
    .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
      const std::int64_t elements = s["b"] * s["s"] * s["h"] * s["d"];
      return {{"x", elements, f.a, Access::read, {}, s["d"]},
              {"table", s["s"] * s["d"], Format::fp32},
              {"y", elements, f.a, Access::written}};
    },
    .row_length = [](const Shape& s) { return s["d"]; },
    .reference = rope_detail::reference,
    .reduction = [](const Shape&) { return 2.0; },
    .shapes = rope_detail::sweep,
    .refuses = [](const Shape& s) -> std::optional<std::string> {
      if (s["d"] % 2 == 0) return std::nullopt;
      return "d is odd; allowed: an even number, because the halves of a head form pairs";
    },
}};

}  // namespace ridgebench
