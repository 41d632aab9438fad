// Gradient of ReLU by oneDNN (eltwise_relu, backward), the yardstick of fp32 and bf16. The library
// stores through the caches, so the processor first reads every line that it writes.
#include "kernels/common/cpu/onednn.hpp"

namespace ridgebench {
namespace {

const Registration relu_backward{onednn_elementwise("relu_backward", Engine::memory),
                                 Types<float, Bf16>{},
                                 []<class T>() { return onednn<OneDnn::relu_backward, 2, T>(); }};

}  // namespace
}  // namespace ridgebench
