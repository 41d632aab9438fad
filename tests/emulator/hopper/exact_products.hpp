// Products of integer matrices that no tile divides, which every tile must give exactly.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/matmul/hopper/wgmma_persistent.cuh"
#include "tests/support/host_queue.hpp"

namespace ridgebench::emulator::exact_products {

inline constexpr std::int64_t kM = 528;  // whole tiles of every cluster, and a part of one
inline constexpr std::int64_t kN = 536;
inline constexpr std::int64_t kK =
    336;  // several trips round the ring of stages, and a part of a trip

// Small integers with no pattern that a wrong index could repeat.
inline int number(std::int64_t i) { return static_cast<int>((i * 2654435761U >> 13U) % 5) - 2; }

template <class T>
std::vector<T> numbers(std::int64_t count, std::int64_t seed) {
  std::vector<T> x;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(encode<T>(static_cast<float>(number(i + seed))));
  }
  return x;
}

// Element (i, j) of the product of numbers(m * k, 0) and numbers(n * k, kSeedB) in layout nt.
inline constexpr std::int64_t kSeedB = 77777;
inline int exact_sum(std::int64_t i, std::int64_t j, std::int64_t k) {
  int sum = 0;
  for (std::int64_t p = 0; p < k; ++p) sum += number(i * k + p) * number(j * k + p + kSeedB);
  return sum;
}

// C of the operands in a layout.
inline std::vector<int> exact_product(Layout layout, std::int64_t seed_b) {
  const bool a_by_columns = layout == Layout::tn;
  const bool b_by_rows = layout != Layout::nt;
  std::vector<int> a(kM * kK);
  std::vector<int> b(kK * kN);
  for (std::int64_t i = 0; i < kM * kK; ++i) a[i] = number(i);
  for (std::int64_t i = 0; i < kK * kN; ++i) b[i] = number(i + seed_b);
  std::vector<int> c(kM * kN, 0);
  for (std::int64_t i = 0; i < kM; ++i) {
    for (std::int64_t j = 0; j < kN; ++j) {
      int sum = 0;
      for (std::int64_t p = 0; p < kK; ++p) {
        sum += a[a_by_columns ? p * kM + i : i * kK + p] * b[b_by_rows ? p * kN + j : j * kK + p];
      }
      c[i * kN + j] = sum;
    }
  }
  return c;
}

// Elements of C that differ from the exact product.
template <class List, class T, class Out>
std::int64_t wrong_elements(Layout layout, cuda::TileChoice choice) {
  const Shape shape({{"m", kM}, {"n", kN}, {"k", kK}}, layout);
  const std::vector<T> a = numbers<T>(kM * kK, 0);
  const std::vector<T> b = numbers<T>(kK * kN, kSeedB);
  const std::vector<int> exact = exact_product(layout, kSeedB);
  HostQueue queue;
  const auto c = std::static_pointer_cast<Out>(queue.allocate(kM * kN * sizeof(Out)));
  cuda::bind_plain<List>(queue, cuda::chosen<List>(choice), shape, a.data(), b.data(), c.get())();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < kM * kN; ++i) {
    const Out rounded = encode<Out>(static_cast<float>(exact[i]));
    if (decode(c.get()[i]) != decode(rounded)) ++wrong;
  }
  return wrong;
}

// With every tile of the list that is compiled, and every cluster.
template <class List, class T, class Out>
void expect_exact_products(Layout layout) {
  for (const std::size_t tile : cuda::compiled_tiles<List, T, T>(layout)) {
    for (const int cluster : cuda::kClusters) {
      SCOPED_TRACE(std::to_string(List::kShapes[tile].m) + " x " +
                   std::to_string(List::kShapes[tile].n) + ", clusters of " +
                   std::to_string(cluster));
      const std::int64_t wrong =
          wrong_elements<List, T, Out>(layout, {.tile = tile, .cluster = cluster});
      EXPECT_EQ(wrong, 0);
    }
  }
}

}  // namespace ridgebench::emulator::exact_products
