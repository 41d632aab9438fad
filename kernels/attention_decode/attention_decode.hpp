// Attention of one new token in each of b sequences to a cache of s tokens: for each query head
// o = sum_t p_t v_t with p = softmax_t(q . k_t / sqrt(d)). h query heads share kv key/value heads,
// h / kv neighbours each (grouped heads; Ainslie et al., arXiv 2305.13245). q and o are (b, h, d);
// the caches k and v are (b, kv, s, d), row-major, as Hugging Face's DynamicCache holds them, so
// that the tokens of a head are neighbours. 4bhsd + 5bhs FLOPs: two products and additions for each
// element of K and of V and each query head that reads it, and the five of a softmax
// (kernels/softmax) for each score; the scale is left out. Bytes: the caches are read once, q is
// read and o is written once, w(2bskvd + 2bhd) for formats of w bytes.
//
// Tolerance, with p, v_t and o those of an element of o: the sum of p_t v_t errs by c u sqrt(s)
// ||p_t v_t||_2 as any sum of s terms, and the sum that p is divided by, whose terms are positive,
// by c u sqrt(s) of itself (softmax_reference.hpp). A score errs by c u sqrt(d) ||q k_t||_2 /
// sqrt(d) as a sum of d terms, and by the roundings of score, exponent and exponential: g_t in all,
// in units of c u. Such errors change o by ||p_t g_t (v_t - o)||_2, because they also change the
// divisor.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/registry.hpp"
#include "kernels/common/softmax_reference.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

namespace attention_decode_detail {

inline Shape shape(std::int64_t b, std::int64_t h, std::int64_t kv, std::int64_t s,
                   std::int64_t d) {
  return Shape({{"b", b}, {"h", h}, {"kv", kv}, {"s", std::max<std::int64_t>(s, 1)}, {"d", d}});
}

// Eight sequences with the heads of Llama 3 8B, then one and many sequences, and other heads.
inline std::vector<Shape> sweep(Profile profile, Pace pace, const Machine& machine) {
  if (profile == Profile::lecture) return {};
  const std::int64_t elements = most_elements(pace, machine, sizeof(float));
  std::vector<Shape> shapes;
  const auto add = [&](std::int64_t b, std::int64_t h, std::int64_t kv, std::int64_t d) {
    shapes.push_back(shape(b, h, kv, elements / (2 * b * kv * d), d));
  };
  add(8, 32, 8, 128);
  if (at_least_standard(profile)) {
    add(1, 32, 8, 128);
    add(64, 32, 8, 128);
  }
  if (profile == Profile::full) {
    add(8, 32, 32, 128);
    add(8, 64, 8, 128);
    add(8, 32, 8, 64);
  }
  return shapes;
}

// Scores of the tokens, and what an error in each is in units of c u, without that of the exponent.
struct Scores {
  std::vector<double> value;
  std::vector<double> error;
};

inline Scores scores_of(View q, std::int64_t q_first, View k, std::int64_t k_first, std::int64_t s,
                        std::int64_t d) {
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  std::vector<double> query(static_cast<std::size_t>(d));
  std::vector<double> key(query.size());
  q.read(q_first, query);
  Scores scores;
  for (std::int64_t t = 0; t < s; ++t) {
    k.read(k_first + t * d, key);
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < key.size(); ++i) {
      const double product = query[i] * key[i];
      sum += product;
      squares += product * product;
    }
    scores.value.push_back(sum * scale);
    scores.error.push_back(std::sqrt(squares) + std::abs(sum * scale));
  }
  return scores;
}

inline void reference(const Shape& shape, std::int64_t row, std::span<const View> in,
                      std::span<Expected> out) {
  const std::int64_t s = shape["s"];
  const std::int64_t d = shape["d"];
  const std::int64_t group = shape["h"] / shape["kv"];
  const std::int64_t cache = row / group * s * d;  // of the head of the cache
  const Scores scores = scores_of(in[0], row * d, in[1], cache, s, d);
  std::vector<double> p(scores.value.size());
  const SoftmaxOfRow of_row = softmax_reference(scores.value, p);

  std::vector<double> v(out.size());
  std::vector<double> sum(out.size());      // of p v
  std::vector<double> squares(out.size());  // of p v
  std::vector<double> first(out.size());    // of (p g)^2 v
  std::vector<double> second(out.size());   // of (p g v)^2
  double all = 0;                           // of (p g)^2
  for (std::int64_t t = 0; t < s; ++t) {
    const auto token = static_cast<std::size_t>(t);
    in[2].read(cache + t * d, v);
    const double g = scores.error[token] + std::abs(scores.value[token] - of_row.max) + 1;
    const double weight = p[token] * g * p[token] * g;
    all += weight;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double term = p[token] * v[i];
      sum[i] += term;
      squares[i] += term * term;
      first[i] += weight * v[i];
      second[i] += weight * v[i] * v[i];
    }
  }
  const double root = std::sqrt(static_cast<double>(s));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double spread = second[i] - 2 * sum[i] * first[i] + sum[i] * sum[i] * all;
    const double of_scores = std::sqrt(std::max(spread, 0.0));
    out[i] = {sum[i], std::sqrt(squares[i]) + std::abs(sum[i]) + of_scores / root};
  }
}

// Query heads of all sequences, times tokens.
inline double scores(const Shape& s) {
  return static_cast<double>(s["b"]) * static_cast<double>(s["h"]) * static_cast<double>(s["s"]);
}

}  // namespace attention_decode_detail

inline const RegisterOperation attention_decode{{
    .name = "attention_decode",
    .dimensions = {"b", "h", "kv", "s", "d"},
    .of_step = true,
    .formats = {Format::fp32, Format::fp16, Format::bf16},
    .flops =
        [](const Shape& s) {
          return attention_decode_detail::scores(s) * (4 * static_cast<double>(s["d"]) + 5);
        },
    .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
      const std::int64_t queries = s["b"] * s["h"] * s["d"];
      const std::int64_t cache = s["b"] * s["kv"] * s["s"] * s["d"];
      return {{"q", queries, f.a, Access::read, {}, s["d"]},
              {"k", cache, f.a},
              {"v", cache, f.a},
              {"o", queries, f.a, Access::written}};
    },
    .row_length = [](const Shape& s) { return s["d"]; },
    .reference = attention_decode_detail::reference,
    .reduction = [](const Shape& s) { return static_cast<double>(s["s"]); },
    .shapes = attention_decode_detail::sweep,
    .special = attention_decode_detail::scores,
    .refuses = [](const Shape& s) -> std::optional<std::string> {
      if (s["h"] % s["kv"] == 0) return std::nullopt;
      return "kv does not divide h; allowed: h a multiple of kv";
    },
}};

}  // namespace ridgebench
