// Stands in for cuBLAS and cuBLASLt where the toolkit has no headers of them: what the yardsticks
// need to be listed. Their rows are skipped with a reason, so nothing here is ever called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/error.hpp"
#include "kernels/common/format.hpp"
#include "kernels/common/machine.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench::cuda {

inline constexpr const char* kNoCublas = "built without cuBLAS";

inline std::optional<std::string> supports_cublas(const Machine&, const Shape&, FormatPair) {
  return kNoCublas;
}

enum CublasNumber : std::uint8_t {
  CUBLAS_POINTER_MODE_HOST,
  CUBLAS_POINTER_MODE_DEVICE,
  CUBLAS_OP_N,
  CUBLAS_OP_T,
  CUBLAS_COMPUTE_32F,
  CUBLAS_GEMM_DEFAULT
};

template <class T>
inline constexpr cudaDataType_t kCublasType = CUDA_R_32F;

#define RIDGEBENCH_ABSENT(name) \
  inline constexpr auto name = [](auto...) -> cudaError_t { throw Unsupported(kNoCublas); }
RIDGEBENCH_ABSENT(cublasSdot_64);
RIDGEBENCH_ABSENT(cublasSgemv_64);
RIDGEBENCH_ABSENT(cublasGemmEx_64);
RIDGEBENCH_ABSENT(cublasLtGetVersion);
#undef RIDGEBENCH_ABSENT

class Cublas {
 public:
  Cublas(Queue& /*queue*/, CublasNumber /*scalars*/) { throw Unsupported(kNoCublas); }
  [[nodiscard]] const void* handle() const { return this; }
};

enum class LtScales : std::uint8_t { none, fp32_of_128, ue8m0_of_32, ue4m3_of_16 };

struct LtOptions {
  bool fast_accumulation = false;
  bool gelu = false;
  LtScales scales = LtScales::none;
  std::uint32_t alignment = 256;
};

struct LtBlockScales {
  const void* a = nullptr;
  const void* b = nullptr;
};

struct LtAlgorithm {};

class LtProduct {
 public:
  static constexpr int kMostAlgorithms = 1;
  static constexpr auto* supports = supports_cublas;
  static constexpr auto* supports_block_scaled = supports_cublas;
  static constexpr auto* supports_tiled_scales = supports_cublas;
  LtProduct(Queue& /*queue*/, const Shape& /*shape*/, FormatPair /*inputs*/, LtOptions /*o*/) {
    throw Unsupported(kNoCublas);
  }
  [[nodiscard]] LtProduct of_shape(const Shape& /*shape*/) const { return *this; }
  [[nodiscard]] std::vector<LtAlgorithm> algorithms(int most) const {
    return std::vector<LtAlgorithm>(static_cast<std::size_t>(most));
  }
  void choose(const LtAlgorithm& /*algorithm*/) {}
  [[nodiscard]] std::string choice() const { return kNoCublas; }
  [[nodiscard]] Launch bind(const void* /*a*/, const void* /*b*/, const void* /*bias*/, void* /*c*/,
                            const LtBlockScales& /*scales*/ = {}) const {
    throw Unsupported(kNoCublas);
  }
};

}  // namespace ridgebench::cuda
