// The products of a batch on a grid, with one mistake each in what a block takes for its product,
// and the correct form.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/common/operation.hpp"
#include "kernels/matmul/tile/operands.cuh"
#include "tests/emulator/fault_of.hpp"
#include "tests/support/host_queue.hpp"

namespace ridgebench::emulator {
namespace {

enum class BatchMistake { none, stride_a, stride_b, stride_c, ldc, lda };

using OneBatch = cuda::ProductBatch<float, float, float>;

__global__ void multiply_batch(OneBatch product) {
  const auto m = static_cast<std::int64_t>(threadIdx.x);
  const auto n = static_cast<std::int64_t>(blockIdx.x);
  if (m >= product.m || n >= product.n) return;
  product.start_block();
  float sum = 0;
  for (std::int64_t k = 0; k < product.k; ++k) sum += product.a(m, k) * product.b(n, k);
  product.c_of_block()[m * product.ldc + n] = sum;
}

float small_number(std::size_t i) { return static_cast<float>((i * 2654435761U >> 13U) % 5) - 2; }

// Elements of C that are wrong, those between its rows among them.
int wrong_in_batch(BatchMistake mistake, const Shape& shape) {
  const auto matrices = [&](const StoredLines& of) {
    std::vector<float> x(static_cast<std::size_t>(batch_of(shape) * of.elements()));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = small_number(i + x.size());
    return x;
  };
  const StoredLines of_a = lines_of_a(shape);
  const StoredLines of_b = lines_of_b(shape);
  const StoredLines of_c = lines_of_c(shape);
  const std::vector<float> a = matrices(of_a);
  const std::vector<float> b = matrices(of_b);
  constexpr float kUntouched = 99;
  std::vector<float> c(static_cast<std::size_t>(batch_of(shape) * of_c.elements()), kUntouched);
  OneBatch product(shape, a.data(), b.data(), c.data());
  if (mistake == BatchMistake::stride_a) product.stride_a = 0;
  if (mistake == BatchMistake::stride_b) product.stride_b = 0;
  if (mistake == BatchMistake::stride_c) product.stride_c = 0;
  if (mistake == BatchMistake::ldc) product.ldc = shape["n"];
  if (mistake == BatchMistake::lda) product.a.stride_mn = shape["k"];
  const dim3 grid(static_cast<unsigned>(shape["n"]), 1, product.batch);
  const std::string fault =
      fault_of([&] { multiply_batch<<<grid, static_cast<unsigned>(shape["m"])>>>(product); });
  if (!fault.empty()) return -1;
  int wrong = 0;
  for (std::size_t at = 0; at < c.size(); ++at) {
    const auto row = static_cast<std::int64_t>(at) / of_c.stride;
    const auto j = static_cast<std::int64_t>(at) % of_c.stride;
    float expected = kUntouched;
    if (j < shape["n"]) {
      expected = 0;
      for (std::int64_t k = 0; k < shape["k"]; ++k) {
        const std::int64_t of_row =
            row / shape["m"] * of_a.elements() + row % shape["m"] * of_a.stride + k;
        const std::int64_t of_column = row / shape["m"] * of_b.elements() + j * of_b.stride + k;
        expected += a[static_cast<std::size_t>(of_row)] * b[static_cast<std::size_t>(of_column)];
      }
    }
    wrong += c[at] == expected ? 0 : 1;
  }
  return wrong;
}

Shape odd_batch() {
  return Shape({{"m", 5}, {"n", 3}, {"k", 7}, {"b", 4}, {"lda", 9}, {"ldb", 11}, {"ldc", 4}});
}

TEST(ProductBatch, EveryBlockTakesItsProduct) {
  EXPECT_EQ(wrong_in_batch(BatchMistake::none, odd_batch()), 0);
  EXPECT_EQ(wrong_in_batch(BatchMistake::none, Shape({{"m", 5}, {"n", 3}, {"k", 7}})), 0);
  EXPECT_EQ(wrong_in_batch(BatchMistake::none, Shape({{"m", 1}, {"n", 3}, {"k", 1}, {"b", 7}})), 0);
}

TEST(ProductBatch, EveryMistakeShows) {
  for (const BatchMistake mistake :
       {BatchMistake::stride_a, BatchMistake::stride_b, BatchMistake::stride_c, BatchMistake::ldc,
        BatchMistake::lda}) {
    EXPECT_NE(wrong_in_batch(mistake, odd_batch()), 0) << static_cast<int>(mistake);
  }
}

// Vectors of 16 bytes need the leading dimension and the start, not the length of a row alone.
TEST(ProductBatch, VectorsNeedALeadingDimensionOfWholeVectors) {
  alignas(16) static float memory[4096] = {};
  const auto vectorizable = [&](std::vector<Shape::Dimension> more) {
    std::vector<Shape::Dimension> sizes{{"m", 16}, {"n", 16}, {"k", 16}};
    sizes.insert(sizes.end(), more.begin(), more.end());
    const OneBatch product(Shape(sizes), memory, memory, memory);
    return std::pair(product.a.is_vectorizable(4),
                     cuda::can_store_vector(product.c, product.n, product.ldc, 4));
  };
  EXPECT_EQ(vectorizable({}), std::pair(true, true));
  EXPECT_EQ(vectorizable({{"lda", 20}, {"ldc", 20}}), std::pair(true, true));
  EXPECT_EQ(vectorizable({{"lda", 17}}), std::pair(false, true));
  EXPECT_EQ(vectorizable({{"ldc", 18}}), std::pair(true, false));
}

}  // namespace
}  // namespace ridgebench::emulator
