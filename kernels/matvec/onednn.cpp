// Matrix-vector product by oneDNN, the yardstick of fp32 and bf16: a matmul with one column. The
// limit is the bandwidth of reading A once.
#include "kernels/common/cpu/onednn.hpp"

namespace ridgebench {
namespace {

const Registration onednn_matvec{
    []<class T>() { return onednn_product("matvec", FormatOf<T>::value); }, Types<float, Bf16>{},
    []<class T>() { return onednn<OneDnn::matvec, 2, T>(); }};

}  // namespace
}  // namespace ridgebench
