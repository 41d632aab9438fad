// A step of an optimizer, one parameter at a time. The limit is memory bandwidth in fp32, elsewhere
// the conversions, and for adamw the root and the quotient.
#include "kernels/optimizer/updates.hpp"

namespace ridgebench {
namespace {

struct Naive {
  template <class U>
  static Launch launch(Queue& queue, const Shape& shape, const optimizer::Arrays<U>& arrays) {
    return [arrays, n = shape["n"], threads = queue.threads(), rule = typename U::Rule()] {
#pragma omp parallel for num_threads(threads)
      for (std::int64_t i = 0; i < n; ++i) {
        std::array<float, U::kStates> state;
        for (std::size_t j = 0; j < U::kStates; ++j) state[j] = arrays.state[j][i];
        float p = decode(arrays.p[i]);
        if constexpr (U::kMaster) p = arrays.state[U::kMasterArray][i];
        p = rule(p, decode(arrays.g[i]), state);
        for (std::size_t j = 0; j < U::kStates; ++j) arrays.state[j][i] = state[j];
        if constexpr (U::kMaster) arrays.state[U::kMasterArray][i] = p;
        arrays.p[i] = encode<typename U::P>(p);
      }
    };
  }
};

template <class U>
Technique technique() {
  Technique naive = optimizer::technique<U>("naive");
  naive.pace = Pace::naive;
  return naive;
}

const Registration naive{[]<class U>() { return technique<U>(); }, optimizer::Updates{},
                         []<class U>() { return optimizer::bind_for<Naive, U>(); }};

}  // namespace
}  // namespace ridgebench
