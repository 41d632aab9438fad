// Work of a training step beside matrix products and attention's products.
#pragma once

#include <vector>

#include "roofline/transformer/operations.hpp"

namespace ridgebench {

// Returns the work of norms, activation functions, residual additions, softmax and the loss,
// forward and backward. Each is a kernel of its own that reads its inputs and writes its outputs
// once, in `format`; a kernel that fuses two of them moves less. Softmax is that of a fused
// attention, which keeps scores on the chip, and moves nothing. `layers` counts the norms,
// residuals and networks that the model has. FLOPs of an element, an exponential, a root and a
// division counted as 1:
//   norm         4 and 3 a row, as RMSNorm; 9 backward: 6 of dX, 3 of the weights' gradient
//   residual     1; backward the sum of two gradients, 1
//   activation   GELU in its tanh form 20 (kernels/gelu); backward 29: argument and tanh 17, the
//                derivative 11, its product with dY 1. A gated network has SiLU(gate) x up, 5;
//                backward 12: sigmoid 4, SiLU 1, dY x SiLU 1, the derivative of SiLU 4, its
//                products with dY and up 2
//   softmax      5 a pair of query and key: maximum, difference, exponential, sum, division;
//                backward 4: product with its gradient, sum, difference, product
//   loss         6 a logit, cross entropy with its gradient, which replaces the logits
// A network without a gate counts as GELU.
std::vector<LayerWork> step_work(const Transformer& model, const Sequences& sequences,
                                 Format format);

}  // namespace ridgebench
