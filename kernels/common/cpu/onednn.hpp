// oneDNN, the host's yardstick for bf16 and elementwise operations (fp32 and bf16 only). Only
// onednn.cpp knows its headers. The plan_ functions create a primitive, which is slow; they throw
// Unsupported where the build has no oneDNN or it declines the case.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {

// "2.6.3"; "" where the build has none.
std::string onednn_version();

// The technique of a product in fp32 or bf16. The library multiplies bf16 by AMX, by the pairs of
// AVX512_BF16, or in fp32 after widening, as the processor and ONEDNN_MAX_CPU_ISA allow.
Technique onednn_product(std::string_view operation, Format format);

// A primitive with the memory descriptors of its operands, in the order of bind's pointers.
class OneDnnPrimitive;
using OneDnnPlan = std::shared_ptr<const OneDnnPrimitive>;

enum class Eltwise : std::uint8_t { relu, gelu_tanh };

// y[n] = f(x[n]); operands x, y.
OneDnnPlan plan_onednn_eltwise(Queue& queue, Eltwise function, Format format, const Shape& shape);
// y[m] = A[m,n] x[n]; operands a, x, y.
OneDnnPlan plan_onednn_matvec(Queue& queue, Format format, const Shape& shape);
// C[m,n] = A B in the shape's layout; operands a, b, c.
OneDnnPlan plan_onednn_matmul(Queue& queue, Format format, const Shape& shape);
// C[m,n] = gelu(A B + bias[n]); operands a, b, bias, c.
OneDnnPlan plan_onednn_matmul_gelu(Queue& queue, Format format, const Shape& shape);

// The last operand is written.
Launch bind_onednn(Queue& queue, const OneDnnPlan& plan, const std::vector<const void*>& operands);

}  // namespace ridgebench
