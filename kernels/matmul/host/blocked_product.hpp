// The matrix product around a register-tile kernel: packs both inputs, which hides their layout and
// format, and multiplies blocks of C that fit the caches, in parallel. After Goto and van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008.
//
// A Kernel has: Word (FloatWord or Bf16Pair); rows and columns of its tile of C; step, the words of
// the reduction that it multiplies at once, and depth, those that it should before it turns to the
// next tile; block_rows(k), the rows of C that a thread works on at once; and static functions
// begin() and end() around a thread's work, and
//   multiply_tile(count, a, lda, b, c, add, ahead):  c[rows][columns] = a b, or that added to c
// with `count` words, rounded up to `step`, of each row of a and each column of b. a has `run`
// words of each row together (0: all of them), rows lda words apart; b has rows of `columns` words.
// `ahead` are lines of memory that it should ask for meanwhile.
//
// To be included inside a region of target_begin.hpp, after pack.hpp; see there.
#pragma once

#ifndef RIDGEBENCH_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

#include "kernels/matmul/host/product_blocks.hpp"
#include "kernels/matmul/host/product_worker.hpp"

namespace ridgebench {
namespace {

// Words per row of packed A: room for whole blocks and one vector more, so that rows do not all
// fall into the same sets of a cache.
template <class Kernel>
std::int64_t row_words(const Shape& s) {
  return round_up(ceil_div(s["k"], Kernel::Word::steps), cpu::kBlock) + cpu::kLanes;
}

struct Workspace {
  std::shared_ptr<void> a;
  std::shared_ptr<void> b;
  std::shared_ptr<void> tiles;
};

template <class Kernel>
Workspace prepare(Queue& queue, const Shape& s) {
  const auto words = [&queue](std::int64_t count) {
    return queue.allocate(static_cast<std::size_t>(count) * sizeof(std::uint32_t));
  };
  const std::int64_t rows = rows_of_band<Kernel>(s["m"], bands_of<Kernel>(s, queue.threads()));
  const std::int64_t columns = round_up(round_up(s["n"], Kernel::columns), cpu::kBlock);
  const std::int64_t width = row_words<Kernel>(s);
  return {words(queue.threads() * words_of_band(rows, width)), words(columns * width),
          words(queue.threads() * words_of_sums<Kernel>(rows))};
}

template <class Kernel, class A, class B, class Out, class Epilogue>
Launch blocked_product(Queue& queue, const Workspace& workspace, const Shape& s, const A* a,
                       const B* b, Out* c, Epilogue epilogue) {
  const bool a_along = s.layout() != Layout::tn;
  const bool b_along = s.layout() == Layout::nt;
  const std::int64_t m = s["m"];
  const std::int64_t n = s["n"];
  const std::int64_t k = s["k"];
  const std::int64_t width = row_words<Kernel>(s);
  const auto words_of = [](const std::shared_ptr<void>& memory) {
    return static_cast<std::uint32_t*>(memory.get());
  };
  using Product = BlockedProduct<Kernel, A, B, Out, Epilogue>;
  const Product product{.m = m,
                        .n = n,
                        .k = ceil_div(k, Kernel::Word::steps),
                        .a = {a, a_along ? m : k, a_along ? k : m, a_along},
                        .b = {b, b_along ? n : k, b_along ? k : n, b_along},
                        .packed_a = {words_of(workspace.a), width, 0},
                        .packed_b = {words_of(workspace.b), width, 0},
                        .tiles = static_cast<float*>(workspace.tiles.get()),
                        .bands = bands_of<Kernel>(s, queue.threads()),
                        .c = c,
                        .streaming = Product::streaming_pays(c, m, n),
                        .epilogue = epilogue};
  return [product, workspace, threads = queue.threads()] {
#pragma omp parallel num_threads(threads)
    {
      Kernel::begin();
      Worker worker(product);
      worker.pack_columns();
#pragma omp barrier
      worker.multiply_rest();
      cpu::streaming_fence();
      Kernel::end();
    }
  };
}

template <class Kernel, class A, class B, class Out>
Launch bind(Queue& queue, const Workspace& workspace, const Shape& shape, const A* a, const B* b,
            Out* c) {
  return blocked_product<Kernel>(queue, workspace, shape, a, b, c, Identity{});
}

template <class Kernel, class A, class B, class Out>
Launch bind_gelu(Queue& queue, const Workspace& workspace, const Shape& shape, const A* a,
                 const B* b, const Out* bias, Out* c) {
  return blocked_product<Kernel>(queue, workspace, shape, a, b, c, BiasGelu<Out>{bias});
}

}  // namespace
}  // namespace ridgebench
