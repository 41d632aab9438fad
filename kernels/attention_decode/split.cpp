// Attention of one token to a cache, tile by tile with a running softmax, so that no row of scores
// is stored. The query heads of a group share each row of K and V, which is read and widened once.
// Where threads outnumber the heads of the cache, several take parts of a context (flash-decoding;
// Dao et al., 2023), whose sums are then added in their order: the same bits for the same number of
// threads. The limit is the memory bandwidth of reading. If many query heads share a row, their
// arithmetic limits few threads.
#include <cmath>
#include <memory>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/exp2.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/dot.hpp"
#include "kernels/common/cpu/rows.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kTile = 64;  // tokens

struct Sizes {
  Sizes(const Shape& shape, int threads)
      : caches(shape["b"] * shape["kv"]),
        group(shape["h"] / shape["kv"]),
        s(shape["s"]),
        d(shape["d"]),
        splits(std::min(ceil_div(std::int64_t{threads}, caches), ceil_div(s, kTile))) {}

  // Floats of what a split leaves of one query head: d sums of values, the sum of exponentials and
  // the maximum. Whole lines, so that a vector of sums lies in one line.
  [[nodiscard]] std::int64_t of_head() const { return round_up(d + 2, cpu::kLineElements<float>); }
  [[nodiscard]] std::int64_t of_split() const { return group * of_head(); }
  // Floats that a thread works in: the queries of a group, a row of the cache, a tile of scores.
  [[nodiscard]] std::int64_t of_thread() const { return group * (d + kTile) + d; }
  [[nodiscard]] std::size_t floats(int threads) const {
    return static_cast<std::size_t>(caches * splits * of_split() + threads * of_thread());
  }

  std::int64_t caches;  // key/value heads of all sequences
  std::int64_t group;   // query heads that share one
  std::int64_t s, d;
  std::int64_t splits;  // of a context
};

void add_scaled(float* sum, float factor, const float* x, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) sum[i] += factor * x[i];
}

void scale(float* x, float factor, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) x[i] *= factor;
}

// The work of one thread on one group.
class Group {
 public:
  // partial: of_split() floats; work: of_thread() floats.
  template <class T>
  Group(const Sizes& sizes, const T* q, float* partial, float* work)
      : sizes_(sizes),
        partial_(partial),
        query_(work),
        row_(query_ + sizes.group * sizes.d),
        scores_(row_ + sizes.d) {
    const std::int64_t of_queries = sizes.group * sizes.d;
    const float factor = 1 / std::sqrt(static_cast<float>(sizes.d));
    const float* const queries = cpu::widened_row(q, query_, of_queries);
    for (std::int64_t i = 0; i < of_queries; ++i) query_[i] = queries[i] * factor;
    std::fill_n(partial, sizes.of_split(), 0.0F);
    for (std::int64_t g = 0; g < sizes.group; ++g) {
      head(g)[sizes.d + 1] = std::numeric_limits<float>::lowest();
    }
  }

  // Adds a tile of `count` tokens, whose rows of the cache begin at k and v.
  template <class T>
  void add(const T* k, const T* v, std::int64_t count) {
    const std::int64_t d = sizes_.d;
    for (std::int64_t t = 0; t < count; ++t) {
      const float* const row = cpu::widened_row(k + t * d, row_, d);
      for (std::int64_t g = 0; g < sizes_.group; ++g) {
        scores_[g * kTile + t] = cpu::dot_arranged(row, query_ + g * d, d);
      }
    }
    for (std::int64_t g = 0; g < sizes_.group; ++g) weigh(head(g), scores_ + g * kTile, count);
    for (std::int64_t t = 0; t < count; ++t) {
      const float* const row = cpu::widened_row(v + t * d, row_, d);
      for (std::int64_t g = 0; g < sizes_.group; ++g) {
        add_scaled(head(g), scores_[g * kTile + t], row, d);
      }
    }
  }

 private:
  [[nodiscard]] float* head(std::int64_t g) const { return partial_ + g * sizes_.of_head(); }

  // Turns scores into exponentials, and shrinks what the head has summed up to their maximum.
  void weigh(float* sums, float* scores, std::int64_t count) const {
    float& sum = sums[sizes_.d];
    float& max = sums[sizes_.d + 1];
    const float larger = std::max(max, cpu::max_of(scores, count));
    scale(sums, cpu::shrinkage(max, larger), sizes_.d + 1);
    max = larger;
    sum += cpu::exponentials(scores, scores, count, max);
  }

  const Sizes& sizes_;
  float* partial_;
  float* query_;
  float* row_;
  float* scores_;
};

// Adds the splits of one head of o in their order and writes it. The sums of the first split
// change.
template <class T>
void combine(const Sizes& sizes, float* partial, T* o) {
  const std::int64_t sums = sizes.d + 1;
  const auto max_of_split = [&](std::int64_t i) { return partial[i * sizes.of_split() + sums]; };
  float max = max_of_split(0);
  for (std::int64_t i = 1; i < sizes.splits; ++i) max = std::max(max, max_of_split(i));
  scale(partial, cpu::shrinkage(max_of_split(0), max), sums);
  for (std::int64_t i = 1; i < sizes.splits; ++i) {
    add_scaled(partial, cpu::shrinkage(max_of_split(i), max), partial + i * sizes.of_split(), sums);
  }
  scale(partial, 1 / partial[sizes.d], sizes.d);
  cpu::narrow_row(partial, o, sizes.d);
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* q, const T* k, const T* v, T* o) {
  const int threads = queue.threads();
  const Sizes sizes(shape, threads);
  const std::shared_ptr<void> memory = queue.allocate(sizes.floats(threads) * sizeof(float));
  return [=] {
    auto* const partial = static_cast<float*>(memory.get());
    const std::int64_t items = sizes.caches * sizes.splits;
    float* const work = partial + items * sizes.of_split();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int thread = 0; thread < threads; ++thread) {
      for (std::int64_t i = items * thread / threads; i < items * (thread + 1) / threads; ++i) {
        const std::int64_t cache = i / sizes.splits;
        const std::int64_t split = i % sizes.splits;
        Group group(sizes, q + cache * sizes.group * sizes.d, partial + i * sizes.of_split(),
                    work + thread * sizes.of_thread());
        const std::int64_t end = sizes.s * (split + 1) / sizes.splits;
        for (std::int64_t t = sizes.s * split / sizes.splits; t < end; t += kTile) {
          const std::int64_t first = (cache * sizes.s + t) * sizes.d;
          group.add(k + first, v + first, std::min(kTile, end - t));
        }
      }
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t head = 0; head < sizes.caches * sizes.group; ++head) {
      const std::int64_t first = head / sizes.group * sizes.splits * sizes.of_split();
      combine(sizes, partial + first + head % sizes.group * sizes.of_head(), o + head * sizes.d);
    }
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration split{{.operation = "attention_decode",
                          .name = "split",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .isa = cpu::kIsa,
                          .approximation_error = cpu::kExp2Error,
                          .workspace_bytes =
                              [](const Machine& machine, const Shape& s) {
                                const Sizes sizes(s, machine.units);
                                return sizeof(float) *
                                       static_cast<double>(sizes.floats(machine.units));
                              }},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
