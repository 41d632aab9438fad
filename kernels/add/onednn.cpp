// Addition by oneDNN (binary_add), the yardstick of fp32 and bf16. The library stores through the
// caches, so the processor first reads every line that it writes.
#include "kernels/common/cpu/onednn.hpp"

namespace ridgebench {
namespace {

const Registration add{onednn_elementwise("add", Engine::memory), Types<float, Bf16>{},
                       []<class T>() { return onednn<OneDnn::add, 2, T>(); }};

}  // namespace
}  // namespace ridgebench
