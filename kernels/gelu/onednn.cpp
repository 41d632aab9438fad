// GeLU by oneDNN (eltwise_gelu_tanh), the yardstick of fp32 and bf16. The library stores through
// the caches, so the processor first reads every line that it writes.
#include "kernels/common/cpu/onednn.hpp"

namespace ridgebench {
namespace {

const Registration gelu{onednn_elementwise("gelu", Engine::fma), Types<float, Bf16>{},
                        []<class T>() { return onednn<OneDnn::gelu_tanh, 1, T>(); }};

}  // namespace
}  // namespace ridgebench
