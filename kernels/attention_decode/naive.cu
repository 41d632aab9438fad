// Attention of one token to a cache, a block per query head with a full row of scores in memory: a
// thread computes a score by itself from its own row of K, and later sums one element of o
// over all tokens. The heads of a group read the cache again, and threads beyond d elements do
// nothing in the last pass. The limit is the latency of loads.
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/cuda/rows.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::attention_decode_naive {

constexpr int kThreads = 256;

// all_scores: s floats for each query head; group: query heads that share a head of the cache.
template <class T>
__global__ void __launch_bounds__(kThreads)
    attention_decode_naive(const T* q, const T* k, const T* v, T* o, float* all_scores,
                           std::int64_t group, std::int64_t s, std::int64_t d, float scale) {
  const std::int64_t head = blockIdx.x;
  const T* const query = q + head * d;
  const std::int64_t cache = head / group * s * d;
  float* const scores = all_scores + head * s;
  float max = -FLT_MAX;
  for (std::int64_t t = threadIdx.x; t < s; t += kThreads) {
    float score = 0;
    for (std::int64_t i = 0; i < d; ++i)
      score += to_float(query[i]) * to_float(k[cache + t * d + i]);
    scores[t] = score * scale;
    max = fmaxf(max, scores[t]);
  }
  max = block_all<kThreads>(max, Max{});
  float sum = 0;
  for (std::int64_t t = threadIdx.x; t < s; t += kThreads) {
    scores[t] = expf(scores[t] - max);
    sum += scores[t];
  }
  sum = block_all<kThreads>(sum, Sum{});  // its barriers also order the scores
  for (std::int64_t i = threadIdx.x; i < d; i += kThreads) {
    float weighted = 0;
    for (std::int64_t t = 0; t < s; ++t) weighted += scores[t] * to_float(v[cache + t * d + i]);
    o[head * d + i] = from_float<T>(weighted / sum);
  }
}

struct Scores {
  std::shared_ptr<void> memory;
};

Scores prepare(Queue& queue, const Shape& s) {
  const std::int64_t scores = s["b"] * s["h"] * s["s"];
  return {queue.allocate(static_cast<std::size_t>(scores) * sizeof(float))};
}

template <class T>
Launch bind(Queue& queue, const Scores& scores, const Shape& shape, const T* q, const T* k,
            const T* v, T* o) {
  const std::int64_t d = shape["d"];
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  return [=, group = shape["h"] / shape["kv"], s = shape["s"],
          blocks = blocks_for(shape["b"] * shape["h"], 1), stream = stream_of(queue)] {
    auto* const memory = static_cast<float*>(scores.memory.get());
    attention_decode_naive<<<blocks, kThreads, 0, stream>>>(q, k, v, o, memory, group, s, d, scale);
  };
}

const Registration naive{{.operation = "attention_decode",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .supports = [](const Machine&, const Shape& s,
                                         FormatPair) { return grid_limit(s["b"] * s["h"], 1); }},
                         TrainingTypes{},
                         []<class T>() { return planned(prepare, bind<T>); }};

}  // namespace ridgebench::cuda::attention_decode_naive
