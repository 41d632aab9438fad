// Matrix-vector product by oneDNN, the yardstick of fp32 and bf16: a matmul with one column.
#include "kernels/common/cpu/onednn.hpp"

namespace ridgebench {
namespace {

constexpr auto bind_for = []<class T>() { return onednn<OneDnn::matvec, 2, T>(); };

const Registration fp32{onednn_product("matvec", Format::fp32), Types<float>{}, bind_for};
const Registration bf16{onednn_product("matvec", Format::bf16), Types<Bf16>{}, bind_for};

}  // namespace
}  // namespace ridgebench
