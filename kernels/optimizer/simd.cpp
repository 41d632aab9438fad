// A step of an optimizer on whole vectors of a register. Every array is read before it is written,
// so that its lines are in the cache when they are stored, and streaming stores would gain nothing.
// Beside a master copy the parameters are only written: their lines cost 2 bytes more than counted.
// The limit is memory bandwidth.
#include <algorithm>
#include <utility>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/optimizer/updates.hpp"

#include "kernels/common/cpu/target_begin.hpp"

namespace ridgebench {
namespace {

using cpu::kBlock;
using Block = std::array<float, kBlock>;

// Calls the rule with kBlock parameters, whose states lie in arrays. GCC would give `#pragma omp
// simd` an array of every local, and vectorise no rule.
template <class Rule, class... State>
[[gnu::always_inline]] inline void call(Rule rule, const Block& g, Block& p, State*... states) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::size_t k = 0; k < kBlock; ++k) {
    std::array<float, sizeof...(State)> state{states[k]...};
    p[k] = rule(p[k], g[k], state);
    std::size_t next = 0;
    ((states[k] = state[next++]), ...);
  }
}

// Updates kBlock parameters from number i on.
template <class U>
[[gnu::always_inline]] inline void update_block(const typename U::Rule& rule,
                                                const optimizer::Arrays<U>& arrays,
                                                std::int64_t i) {
  Block g;
  Block p;
  cpu::widen_block(arrays.g + i, g.data());
  if constexpr (U::kMaster) {
    std::copy_n(arrays.state[U::kMasterArray] + i, kBlock, p.data());
  } else {
    cpu::widen_block(arrays.p + i, p.data());
  }
  [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    call(rule, g, p, arrays.state[I] + i...);
  }(std::make_index_sequence<U::kStates>());
  if constexpr (U::kMaster) std::copy_n(p.data(), kBlock, arrays.state[U::kMasterArray] + i);
  cpu::narrow_block(p.data(), arrays.p + i);
}

// Updates the n parameters from number `first` on, fewer than a block, through padded copies.
template <class U>
void update_edge(const typename U::Rule& rule, const optimizer::Arrays<U>& arrays,
                 std::int64_t first, std::int64_t n) {
  std::array<typename U::G, kBlock> g{};
  std::array<typename U::P, kBlock> p{};
  std::array<Block, U::kArrays> state{};
  optimizer::Arrays<U> copies{g.data(), {}, p.data()};
  std::copy_n(arrays.g + first, n, g.data());
  if constexpr (!U::kMaster) std::copy_n(arrays.p + first, n, p.data());
  for (std::size_t j = 0; j < U::kArrays; ++j) {
    copies.state[j] = state[j].data();
    std::copy_n(arrays.state[j] + first, n, copies.state[j]);
  }
  update_block<U>(rule, copies, 0);
  std::copy_n(p.data(), n, arrays.p + first);
  for (std::size_t j = 0; j < U::kArrays; ++j) {
    std::copy_n(copies.state[j], n, arrays.state[j] + first);
  }
}

struct Simd {
  template <class U>
  static Launch launch(Queue& queue, const Shape& shape, const optimizer::Arrays<U>& arrays) {
    return [arrays, n = shape["n"], threads = queue.threads(), rule = typename U::Rule()] {
      const std::int64_t whole = n - n % kBlock;
#pragma omp parallel for num_threads(threads)
      for (std::int64_t i = 0; i < whole; i += kBlock) update_block<U>(rule, arrays, i);
      update_edge<U>(rule, arrays, whole, n - whole);
    };
  }
};

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

template <class U>
Technique technique() {
  Technique simd = optimizer::technique<U>("simd");
  simd.isa = cpu::kIsa;
  return simd;
}

const Registration simd{[]<class U>() { return technique<U>(); }, optimizer::Updates{},
                        []<class U>() { return optimizer::bind_for<Simd, U>(); }};

}  // namespace
}  // namespace ridgebench
