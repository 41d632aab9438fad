// A grouped product as a loop: one call of cuBLASLt for each group that has a token, one after the
// other. It is what a program without a grouped kernel does. A group with few tokens leaves most of
// the device idle, and every group costs a launch, which limits it.
//   ridgebench run --op matmul_grouped --technique cublas_loop
#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include "kernels/common/cuda/lib/cublaslt.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/token_groups.hpp"

namespace ridgebench::cuda {
namespace {

// A product for each number of tokens.
struct GroupProducts {
  std::map<std::int64_t, LtProduct> of_tokens;
};

// Bytes to which each row of A and C and each matrix of B is aligned, if the operands are to 256.
template <class T>
std::uint32_t common_alignment(const Shape& shape) {
  const auto bytes = static_cast<std::uint64_t>(shape["k"] | shape["n"]) * sizeof(T);
  return std::uint32_t{1} << std::min(std::countr_zero(bytes), 8);
}

template <class T>
GroupProducts prepare_loop(Queue& queue, const Shape& shape) {
  const std::vector<TokenGroup> groups = busy_groups(shape);
  LtProduct first(queue, groups.front().product(shape), FormatOf<T>::value,
                  {.alignment = common_alignment<T>(shape)});
  GroupProducts products;
  for (const TokenGroup& group : groups) {
    if (products.of_tokens.contains(group.tokens)) continue;
    LtProduct product = first.of_shape(group.product(shape));
    product.choose(product.algorithms(1).front());
    products.of_tokens.emplace(group.tokens, product);
  }
  return products;
}

template <class T>
Launch bind_loop(Queue& /*queue*/, const GroupProducts& products, const Shape& shape, const T* a,
                 const T* b, T* c) {
  std::vector<Launch> calls;
  for (const TokenGroup& group : busy_groups(shape)) {
    calls.push_back(products.of_tokens.at(group.tokens)
                        .bind(a + group.first * shape["k"],
                              b + group.index * shape["n"] * shape["k"], nullptr,
                              c + group.first * shape["n"]));
  }
  return [calls] {
    for (const Launch& call : calls) call();
  };
}

template <class T>
Technique loop_technique() {
  constexpr bool fp32 = FormatOf<T>::value == Format::fp32;
  return {.operation = "matmul_grouped",
          .name = "cublas_loop",
          .engine = fp32 ? Engine::fma : Engine::tensor,
          .origin = Origin::library,
          .supports = [](const Machine& machine, const Shape& shape, FormatPair inputs) {
            return LtProduct::supports(machine, busy_groups(shape).front().product(shape), inputs);
          }};
}

const CudaRegistration cublas_loop{
    []<class T>() { return loop_technique<T>(); }, Types<float, Bf16>{},
    []<class T>() { return planned(prepare_loop<T>, bind_loop<T>); }};

}  // namespace
}  // namespace ridgebench::cuda
