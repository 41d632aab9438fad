// Attention of one token to a cache, split over the context as in flash-decoding (Dao et al.,
// 2023), so that few sequences fill the device. A block takes a part of a context for up to eight
// query heads of a group, which share each row of K and V that it reads. A warp reads whole rows
// and keeps a running softmax by tiles of 32 tokens, a score to a lane. A second kernel adds the
// parts in their order, so that the bits are the same every time. The limit is memory bandwidth,
// that of reading; with more than four heads to a group it may be the shuffles of the products. Not
// run on a GPU.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/rows.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::attention_decode_split {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarp;
constexpr int kTile = kWarp;  // tokens
constexpr int kBlocksPerSm = 4;
constexpr std::int64_t kMostElements = 256;  // of a head
constexpr std::int64_t kMostHeads = 8;       // of a block

struct Sizes {
  std::int64_t caches;  // key/value heads of all sequences
  std::int64_t group;   // query heads that share one
  std::int64_t chunks;  // of a group, at most kMostHeads heads each
  std::int64_t s, d;
  std::int64_t splits;    // of a context
  std::int64_t of_split;  // tokens; the last split may have fewer

  // A split leaves so many floats for a query head: its maximum, its sum, and d sums of values.
  [[nodiscard]] __host__ __device__ std::int64_t of_head() const { return d + 2; }
};

// kPer elements of a lane from a row of d elements: neighbours if the row has kPer for each lane,
// else every 32nd, and 0 beyond the row.
template <int kPer, class T>
__device__ void load_lane(const T* row, std::int64_t d, int lane, T (&elements)[kPer]) {
  if (d == kPer * kWarp) {
    constexpr int bytes = kPer * static_cast<int>(sizeof(T));
    using Word = std::conditional_t<bytes % 16 == 0, uint4,
                                    std::conditional_t<bytes % 8 == 0, uint2, unsigned>>;
    constexpr int count = bytes / static_cast<int>(sizeof(Word));
    Word words[count];
#pragma unroll
    for (int i = 0; i < count; ++i) words[i] = reinterpret_cast<const Word*>(row)[lane * count + i];
    memcpy(elements, words, sizeof elements);
  } else {
#pragma unroll
    for (int i = 0; i < kPer; ++i) {
      const std::int64_t element = lane + i * kWarp;
      elements[i] = element < d ? row[element] : from_float<T>(0.0F);
    }
  }
}

// The element of the row that is number i of the lane.
template <int kPer>
__device__ std::int64_t element_of(std::int64_t d, int lane, int i) {
  return d == kPer * kWarp ? lane * kPer + i : lane + i * kWarp;
}

// The number of tokens whose rows a lane loads before it uses the first row. A lane has kBytes of
// each row; it loads up to 64 bytes, of up to 8 tokens.
template <int kBytes>
constexpr int kBatch = std::min(8, 64 / kBytes);

// The running softmax of a warp for kHeads query heads. Scores are exponents of 2.
template <int kPer, int kHeads>
struct Running {
  float query[kHeads][kPer];
  float max[kHeads];
  float sum[kHeads];
  float values[kHeads][kPer];

  // Calls use(number, elements) for `count` tokens with rows of d elements, and for the last one
  // again, so often that whole batches are loaded before the first row of each is used.
  template <class T, class Use>
  static __device__ void for_tokens(const T* rows, int count, std::int64_t d, int lane,
                                    const Use& use) {
    constexpr int batch = kBatch<kPer* static_cast<int>(sizeof(T))>;
    static_assert(kTile % batch == 0);
    for (int t = 0; t < count; t += batch) {
      T elements[batch][kPer];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        load_lane(rows + min(t + i, count - 1) * d, d, lane, elements[i]);
      }
#pragma unroll
      for (int i = 0; i < batch; ++i) use(t + i, elements[i]);
    }
  }

  // Adds up to kTile tokens, whose rows of the cache begin at k and v.
  template <class T>
  __device__ void add(const T* k, const T* v, int count, std::int64_t d, int lane) {
    float weight[kHeads];  // of token number `lane`: its score, then its exponential
#pragma unroll
    for (int g = 0; g < kHeads; ++g) weight[g] = -FLT_MAX;
    for_tokens(k, count, d, lane, [&](int t, const T(&key)[kPer]) {
#pragma unroll
      for (int g = 0; g < kHeads; ++g) {
        float share = 0;
#pragma unroll
        for (int i = 0; i < kPer; ++i) share = fmaf(query[g][i], to_float(key[i]), share);
        const float score = warp_sum(share);
        if (lane == t) weight[g] = score;
      }
    });
#pragma unroll
    for (int g = 0; g < kHeads; ++g) {
      const float largest = fmaxf(max[g], warp_all(weight[g], Max{}));
      const float shrinkage = exp2f(max[g] - largest);
      weight[g] = lane < count ? exp2f(weight[g] - largest) : 0.0F;
      max[g] = largest;
      sum[g] = sum[g] * shrinkage + warp_sum(weight[g]);
#pragma unroll
      for (int i = 0; i < kPer; ++i) values[g][i] *= shrinkage;
    }
    for_tokens(v, count, d, lane, [&](int t, const T(&value)[kPer]) {
#pragma unroll
      for (int g = 0; g < kHeads; ++g) {
        const float of_token = __shfl_sync(0xffffffffU, weight[g], t);
#pragma unroll
        for (int i = 0; i < kPer; ++i) {
          values[g][i] = fmaf(of_token, to_float(value[i]), values[g][i]);
        }
      }
    });
  }
};

// scale: of a score as an exponent of 2. partial: of_head() floats for each query head and split.
// Two blocks to a multiprocessor: for more of them, the compiler would spill.
template <int kPer, int kHeads, class T>
__global__ void __launch_bounds__(kThreads, 2)
    attention_decode_split(const T* q, const T* k, const T* v, Sizes sizes, float scale,
                           float* partial) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t d = sizes.d;
  const std::int64_t split = blockIdx.x % sizes.splits;
  const std::int64_t chunk = blockIdx.x / sizes.splits % sizes.chunks;
  const std::int64_t cache = blockIdx.x / sizes.splits / sizes.chunks;
  const std::int64_t first = chunk * kHeads;  // head of the group

  Running<kPer, kHeads> running;
#pragma unroll
  for (int g = 0; g < kHeads; ++g) {
    // Beyond the last head the last one again: its sums are not written twice.
    const std::int64_t head = first + g < sizes.group ? first + g : sizes.group - 1;
    T query[kPer];
    load_lane(q + (cache * sizes.group + head) * d, d, lane, query);
    running.max[g] = -FLT_MAX;
    running.sum[g] = 0;
#pragma unroll
    for (int i = 0; i < kPer; ++i) {
      running.query[g][i] = scale * to_float(query[i]);
      running.values[g][i] = 0;
    }
  }
  const std::int64_t begin = split * sizes.of_split;
  const std::int64_t end = begin + sizes.of_split < sizes.s ? begin + sizes.of_split : sizes.s;
  for (std::int64_t t = begin + warp * kTile; t < end; t += kWarps * kTile) {
    const int count = end - t < kTile ? static_cast<int>(end - t) : kTile;
    const std::int64_t at = (cache * sizes.s + t) * d;
    running.add(k + at, v + at, count, d, lane);
  }

  __shared__ float maxima[kHeads][kWarps];
  __shared__ float sums[kHeads][kWarps];
  __shared__ float values[kHeads][kWarps][kPer * kWarp];
#pragma unroll
  for (int g = 0; g < kHeads; ++g) {
    maxima[g][warp] = running.max[g];
    sums[g][warp] = running.sum[g];
#pragma unroll
    for (int i = 0; i < kPer; ++i) {
      values[g][warp][element_of<kPer>(d, lane, i)] = running.values[g][i];
    }
  }
  __syncthreads();
  for (int g = 0; g < kHeads && first + g < sizes.group; ++g) {
    float largest = maxima[g][0];
    for (int w = 1; w < kWarps; ++w) largest = fmaxf(largest, maxima[g][w]);
    float shrinkage[kWarps];
    float sum = 0;
    for (int w = 0; w < kWarps; ++w) {
      shrinkage[w] = exp2f(maxima[g][w] - largest);
      sum += shrinkage[w] * sums[g][w];
    }
    const std::int64_t head = cache * sizes.group + first + g;
    float* const out = partial + (head * sizes.splits + split) * sizes.of_head();
    if (threadIdx.x == 0) {
      out[0] = largest;
      out[1] = sum;
    }
    for (std::int64_t i = threadIdx.x; i < d; i += kThreads) {
      float value = 0;
      for (int w = 0; w < kWarps; ++w) value += shrinkage[w] * values[g][w][i];
      out[2 + i] = value;
    }
  }
}

// A block per query head adds its splits.
template <class T>
__global__ void __launch_bounds__(kThreads)
    attention_decode_split_sum(const float* partial, Sizes sizes, T* o) {
  const std::int64_t head = blockIdx.x;
  const float* const of_head = partial + head * sizes.splits * sizes.of_head();
  float largest = -FLT_MAX;
  for (std::int64_t i = 0; i < sizes.splits; ++i) {
    largest = fmaxf(largest, of_head[i * sizes.of_head()]);
  }
  float sum = 0;
  for (std::int64_t i = 0; i < sizes.splits; ++i) {
    const float* const split = of_head + i * sizes.of_head();
    sum += exp2f(split[0] - largest) * split[1];
  }
  for (std::int64_t element = threadIdx.x; element < sizes.d; element += kThreads) {
    float value = 0;
    for (std::int64_t i = 0; i < sizes.splits; ++i) {
      const float* const split = of_head + i * sizes.of_head();
      value += exp2f(split[0] - largest) * split[2 + element];
    }
    o[head * sizes.d + element] = from_float<T>(value / sum);
  }
}

struct Workspace {
  Sizes sizes;
  std::shared_ptr<void> partial;
};

// Enough splits give each multiprocessor kBlocksPerSm blocks, and each warp has a tile.
Sizes sizes_of(const Shape& shape, int multiprocessors) {
  Sizes sizes{.caches = shape["b"] * shape["kv"],
              .group = shape["h"] / shape["kv"],
              .chunks = ceil_div(shape["h"] / shape["kv"], kMostHeads),
              .s = shape["s"],
              .d = shape["d"],
              .splits = 1,
              .of_split = shape["s"]};
  const std::int64_t wanted =
      ceil_div(std::int64_t{kBlocksPerSm} * multiprocessors, sizes.caches * sizes.chunks);
  constexpr std::int64_t least = kWarps * kTile;
  sizes.of_split = ceil_div(ceil_div(sizes.s, wanted), least) * least;
  sizes.splits = ceil_div(sizes.s, sizes.of_split);
  return sizes;
}

Workspace prepare(Queue& queue, const Shape& shape) {
  const Sizes sizes = sizes_of(shape, sm_count());
  const std::int64_t floats = sizes.caches * sizes.group * sizes.splits * sizes.of_head();
  return {sizes, queue.allocate(static_cast<std::size_t>(floats) * sizeof(float))};
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  if (shape["d"] > kMostElements) {
    return "a head has " + std::to_string(shape["d"]) + " elements; allowed: up to " +
           std::to_string(kMostElements);
  }
  const Sizes sizes = sizes_of(shape, machine.units);
  if (const auto reason = grid_limit(sizes.caches * sizes.group, 1)) return reason;
  return grid_limit(sizes.caches * sizes.chunks * sizes.splits, 1);
}

// Calls use.operator()<kPer, kHeads>() with the smallest ones that hold a head and a chunk.
template <class Use>
Launch with_forms(const Sizes& sizes, const Use& use) {
  const auto of_heads = [&]<int kPer>() -> Launch {
    if (sizes.group == 1) return use.template operator()<kPer, 1>();
    if (sizes.group <= 4) return use.template operator()<kPer, 4>();
    return use.template operator()<kPer, kMostHeads>();
  };
  if (sizes.d <= 2 * kWarp) return of_heads.template operator()<2>();
  if (sizes.d <= 4 * kWarp) return of_heads.template operator()<4>();
  return of_heads.template operator()<8>();
}

template <class T>
Launch bind(Queue& queue, const Workspace& workspace, const Shape& shape, const T* q, const T* k,
            const T* v, T* o) {
  require_aligned(q);
  require_aligned(k);
  require_aligned(v);
  const Sizes sizes = workspace.sizes;
  const float scale = 1.44269504F / std::sqrt(static_cast<float>(shape["d"]));  // log2(e) / sqrt(d)
  return with_forms(sizes, [&]<int kPer, int kHeads>() -> Launch {
    return [=, blocks = blocks_for(sizes.caches * sizes.chunks * sizes.splits, 1),
            heads = blocks_for(sizes.caches * sizes.group, 1), stream = stream_of(queue)] {
      auto* const partial = static_cast<float*>(workspace.partial.get());
      attention_decode_split<kPer, kHeads>
          <<<blocks, kThreads, 0, stream>>>(q, k, v, sizes, scale, partial);
      attention_decode_split_sum<<<heads, kThreads, 0, stream>>>(partial, sizes, o);
    };
  });
}

const Registration split{{.operation = "attention_decode",
                          .name = "split",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .supports = supports,
                          .approximation_error = kExp2fError},
                         TrainingTypes{},
                         []<class T>() { return planned(prepare, bind<T>); }};

}  // namespace ridgebench::cuda::attention_decode_split
