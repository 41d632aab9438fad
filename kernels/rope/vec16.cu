// Rotary position embedding on vectors of 16 bytes: a thread loads the angles of one vector of
// pairs and rotates that vector in up to eight heads of its token, so that the table is read once
// for them and no division is left in the loop. Heads whose halves are no whole vectors are rotated
// one pair at a time. The limit is memory bandwidth, that of a copy.
#include <algorithm>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/rows.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::rope_vec16 {

constexpr int kThreads = 256;
constexpr std::int64_t kHeads = 8;  // of a thread

struct Sizes {
  explicit Sizes(const Shape& shape)
      : half(shape["d"] / 2),
        h(shape["h"]),
        s(shape["s"]),
        tokens(shape["b"] * shape["s"]),
        chunks(ceil_div(h, kHeads)) {}

  // Threads, if each takes `pairs` of a head.
  [[nodiscard]] std::int64_t threads(std::int64_t pairs) const {
    return tokens * chunks * (half / pairs);
  }

  std::int64_t half;  // pairs of a head
  std::int64_t h, s;
  std::int64_t tokens;
  std::int64_t chunks;  // of the heads of a token
};

// kPairs: kVectorElements<T> or 1.
template <int kPairs, class T>
__global__ void __launch_bounds__(kThreads)
    rope_vec16(const T* x, const float* table, T* y, Sizes sizes) {
  const std::int64_t half = sizes.half;
  const std::int64_t parts = half / kPairs;
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t chunk = thread / parts;  // of all tokens
  const std::int64_t token = chunk / sizes.chunks;
  if (token >= sizes.tokens) return;
  const std::int64_t pair = thread % parts * kPairs;
  const float* const angles = table + token % sizes.s * 2 * half;
  float cosines[kPairs];
  float sines[kPairs];
  load_values(angles, pair, cosines);
  load_values(angles, half + pair, sines);

  const std::int64_t begin = chunk % sizes.chunks * kHeads;
  const std::int64_t end = begin + kHeads < sizes.h ? begin + kHeads : sizes.h;
#pragma unroll 2
  for (std::int64_t head = begin; head < end; ++head) {
    const std::int64_t i = (token * sizes.h + head) * 2 * half + pair;
    float first[kPairs];
    float second[kPairs];
    load_values(x, i, first);
    load_values(x, i + half, second);
#pragma unroll
    for (int k = 0; k < kPairs; ++k) {
      const float old = first[k];
      first[k] = old * cosines[k] - second[k] * sines[k];
      second[k] = second[k] * cosines[k] + old * sines[k];
    }
    store_values(y, i, first);
    store_values(y, i + half, second);
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const float* table, T* y) {
  require_aligned(x);
  require_aligned(table);
  require_aligned(y);
  const Sizes sizes(shape);
  const auto launch = [&]<int kPairs>() -> Launch {
    return [=, blocks = blocks_for(sizes.threads(kPairs), kThreads), stream = stream_of(queue)] {
      rope_vec16<kPairs><<<blocks, kThreads, 0, stream>>>(x, table, y, sizes);
    };
  };
  if (sizes.half % kVectorElements<T> == 0) {
    return launch.template operator()<kVectorElements<T>>();
  }
  return launch.template operator()<1>();
}

const Registration vec16{
    {.operation = "rope",
     .name = "vec16",
     .engine = Engine::fma,
     .arithmetic = Format::fp32,
     .supports = [](const Machine&, const Shape& s,
                    FormatPair) { return grid_limit(Sizes(s).threads(1), kThreads); }},
    TrainingTypes{},
    []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::rope_vec16
