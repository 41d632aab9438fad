// oneDNN, the host's yardstick of bf16 and of elementwise operations (fp32 and bf16 only), loaded
// at the first call. Only onednn.cpp includes its header.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {

// "2.6.3"; "" where the build or this machine has none. Loads the library.
std::string onednn_version();
// The instruction set that oneDNN uses, as it names it: "cpu_isa_avx512_core_amx"; "" without it.
std::string onednn_isa();

// Primitives of the library, with their operands in this order:
enum class OneDnn : std::uint8_t {
  relu,           // y[n] = max(x[n], 0): x, y
  gelu_tanh,      // y[n] = gelu(x[n]): x, y
  relu_backward,  // dx[n] = dy[n] where x[n] > 0, else 0: x, dy, dx
  add,            // z[n] = x[n] + y[n]: x, y, z
  matvec,         // y[m] = A[m,n] x[n]: a, x, y
  matmul,         // C[m,n] = A B in the shape's layout: a, b, c
  matmul_gelu     // C[m,n] = gelu(A B + bias[n]): a, b, bias, c
};

// Technique::supports of every use of the library; it does not load it.
std::optional<std::string> supports_onednn(const Machine& machine, const Shape& s,
                                           FormatPair format);

// The technique `onednn` of a product in fp32 or bf16. The library multiplies bf16 by AMX, by the
// pairs of AVX512_BF16, or in fp32 after widening, as the processor and ONEDNN_MAX_CPU_ISA allow.
Technique onednn_product(const std::string& operation, Format format);

// The technique `onednn` of an elementwise operation in fp32 or bf16, computed in fp32.
Technique onednn_elementwise(const std::string& operation, Engine engine);

// A primitive with the memory descriptors of its operands.
class OneDnnPrimitive;
using OneDnnPlan = std::shared_ptr<const OneDnnPrimitive>;

// Creates the primitive, which is slow. Throws Unsupported where the build or this machine has no
// oneDNN, or the library declines the case.
OneDnnPlan create_onednn(OneDnn function, Queue& queue, Format format, const Shape& shape);
// `operands` are pointers to the plan's operands; the library writes the last.
Launch execute_onednn(Queue& queue, const OneDnnPlan& plan,
                      const std::vector<const void*>& operands);

namespace onednn_detail {

template <OneDnn kFunction, class T>
OneDnnPlan prepare(Queue& queue, const Shape& shape) {
  return create_onednn(kFunction, queue, FormatOf<T>::value, shape);
}
template <class... Pointers>
Launch bind(Queue& queue, const OneDnnPlan& plan, const Shape& /*shape*/, Pointers... operands) {
  return execute_onednn(queue, plan, {operands...});
}

}  // namespace onednn_detail

// Returns a bind for a Registration of T: kInputs operands are read, one is written.
template <OneDnn kFunction, int kInputs, class T>
auto onednn() {
  using In = const T*;
  constexpr auto kPrepare = onednn_detail::prepare<kFunction, T>;
  if constexpr (kInputs == 1) return planned(kPrepare, onednn_detail::bind<In, T*>);
  if constexpr (kInputs == 2) return planned(kPrepare, onednn_detail::bind<In, In, T*>);
  if constexpr (kInputs == 3) return planned(kPrepare, onednn_detail::bind<In, In, In, T*>);
}

}  // namespace ridgebench
