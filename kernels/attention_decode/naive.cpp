// Attention of one token to a cache, head after head with a full row of scores: the products q .
// k_t, their softmax, and the sum of p_t v_t for one element after the other, which reads V with a
// stride. Each query head reads the cache of its group again. The limit is the latency of an
// addition.
#include <cmath>

#include "kernels/common/cpu/plain_rows.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

// Scores of all tokens for one query head.
template <class T>
void compute_scores(const T* q, const T* k, std::int64_t s, std::int64_t d, float* scores) {
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  for (std::int64_t t = 0; t < s; ++t) {
    float sum = 0;
    for (std::int64_t i = 0; i < d; ++i) sum += decode(q[i]) * decode(k[t * d + i]);
    scores[t] = sum * scale;
  }
}

template <class T>
void sum_values(const float* scores, const T* v, std::int64_t s, std::int64_t d, T* o) {
  const float max = cpu::plain_max(scores, s);
  const float sum = cpu::plain_exp_sum(scores, s, max);
  for (std::int64_t i = 0; i < d; ++i) {
    float weighted = 0;
    for (std::int64_t t = 0; t < s; ++t)
      weighted += std::exp(scores[t] - max) * decode(v[t * d + i]);
    o[i] = encode<T>(weighted / sum);
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* q, const T* k, const T* v, T* o) {
  const int threads = queue.threads();
  const std::int64_t s = shape["s"];
  const std::int64_t d = shape["d"];
  const std::int64_t heads = shape["b"] * shape["h"];
  const std::int64_t group = shape["h"] / shape["kv"];
  const auto floats = static_cast<std::size_t>(threads) * static_cast<std::size_t>(s);
  const std::shared_ptr<void> memory = queue.allocate(floats * sizeof(float));
  return [=] {
#pragma omp parallel for num_threads(threads)
    for (int thread = 0; thread < threads; ++thread) {
      float* const scores = static_cast<float*>(memory.get()) + thread * s;
      const std::int64_t end = heads * (thread + 1) / threads;
      for (std::int64_t i = heads * thread / threads; i < end; ++i) {
        const std::int64_t cache = i / group * s * d;
        compute_scores(q + i * d, k + cache, s, d, scores);
        sum_values(scores, v + cache, s, d, o + i * d);
      }
    }
  };
}

const Registration naive{{.operation = "attention_decode",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive,
                          .workspace_bytes =
                              [](const Machine& machine, const Shape& s) {
                                return sizeof(float) * static_cast<double>(machine.units * s["s"]);
                              }},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
