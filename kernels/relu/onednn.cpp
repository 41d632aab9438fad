// ReLU by oneDNN (eltwise_relu), the yardstick of fp32 and bf16. The library stores through the
// caches, so the processor first reads every line that it writes.
#include "kernels/common/cpu/onednn.hpp"

namespace ridgebench {
namespace {

const Registration relu{onednn_elementwise("relu", Engine::memory), Types<float, Bf16>{},
                        []<class T>() { return onednn<OneDnn::relu, 1, T>(); }};

}  // namespace
}  // namespace ridgebench
