// cuBLASLt, the yardstick of matrix products. It multiplies column-major matrices. A row-major
// matrix read by columns is its transpose, so it computes C^T = B^T A^T here: its A is our B.
#pragma once

#ifdef RIDGEBENCH_NO_CUBLAS
#include "kernels/common/cuda/lib/no_cublas.cuh"
#else

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/cuda/lib/cublas.cuh"
#include "kernels/common/error.hpp"
#include "kernels/common/machine.hpp"
#include "kernels/common/product_strides.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench::cuda {

// The scales of blocks. fp32_of_128: A has blocks of 1 x 128, B of 128 x 128. ue8m0_of_32 and
// ue4m3_of_16: both have blocks of 1 x 32 (mxfp8) or 1 x 16 (nvfp4).
enum class LtScales : std::uint8_t { none, fp32_of_128, ue8m0_of_32, ue4m3_of_16 };

struct LtOptions {
  bool fast_accumulation = false;  // fp8: sums stay in the tensor cores
  bool gelu = false;               // gelu(A B + bias), tanh form
  LtScales scales = LtScales::none;
  std::uint32_t alignment = 256;  // of all operands, in bytes; 256 is the library's assumption
};

// The scales of a product with LtOptions::scales, in the layouts of supports_block_scaled and
// supports_tiled_scales.
struct LtBlockScales {
  const void* a = nullptr;
  const void* b = nullptr;
};

// The library's struct has no name, and nvcc 13.0 fails on a vector of such structs.
struct LtAlgorithm {
  cublasLtMatmulAlgo_t value;
};

namespace cublaslt_detail {

constexpr cudaDataType_t type(Format format) {
  switch (format) {
    case Format::fp16:
      return CUDA_R_16F;
    case Format::bf16:
      return CUDA_R_16BF;
    case Format::fp8_e4m3:
      return CUDA_R_8F_E4M3;
    case Format::fp8_e5m2:
      return CUDA_R_8F_E5M2;
#if CUBLAS_VERSION >= 120800
    case Format::fp4_e2m1:
      return CUDA_R_4F_E2M1;
#endif
    default:
      return CUDA_R_32F;
  }
}

template <class Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
         const Value& value) {
  check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value));
}

template <class Value>
void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
         const Value& value) {
  check(cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof value));
}

template <class Value>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const Value& value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value));
}

// A number of an algorithm's configuration, as text.
template <class Value>
std::string config(const cublasLtMatmulAlgo_t& algorithm,
                   cublasLtMatmulAlgoConfigAttributes_t attribute) {
  Value value{};
  check(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, nullptr));
  return std::to_string(value);
}

}  // namespace cublaslt_detail

// One product without its pointers. Slow to create: belongs into prepare. Copies share handle and
// workspace.
class LtProduct {
 public:
  static constexpr int kMostAlgorithms = 32;

  // For Technique::supports, without calling the library. Source: cuBLAS documentation,
  // cublasLtMatmul, "To use FP8 kernels".
  static std::optional<std::string> supports(const Machine& machine, const Shape& shape,
                                             FormatPair inputs) {
    if (batch_of(shape) > std::numeric_limits<std::int32_t>::max()) {
      return "cuBLASLt counts the products of a batch in 32 bits";
    }
    if (info(inputs.a).storage_bytes != 1) return std::nullopt;
    if (machine.compute_capability < 89) return "fp8 in cuBLASLt needs compute capability 8.9";
    if (shape.layout() != Layout::nt) return "cuBLASLt multiplies fp8 in layout nt only";
    return std::nullopt;
  }

  // The same with block scales. The scales of A are [ceil(K / 128), M], those of B [ceil(N / 128),
  // ceil(K / 128)]: the library reads rows of multiples of 4 of both, on compute capability 9.0.
  // Sources: cublasLt.h, cublasLtMatmulMatrixScale_t; PyTorch, test/test_scaled_matmul_cuda.py.
  static std::optional<std::string> supports_block_scaled(const Machine& machine,
                                                          const Shape& shape, FormatPair inputs) {
    if (auto reason = supports(machine, shape, inputs)) return reason;
    if (machine.compute_capability != 90) {
      return "cuBLASLt scales blocks of 128 on compute capability 9.0 only";
    }
    if (shape["m"] % 4 != 0) return "cuBLASLt reads the scales of A for multiples of 4 rows";
    if ((shape["k"] + 127) / 128 % 4 != 0) {
      return "cuBLASLt reads the scales of B for multiples of 4 blocks of 128 of k";
    }
    return std::nullopt;
  }

  // The same with the scales of mxfp8 or nvfp4: tiles of 128 lines by 4 blocks along k.
  // Sources: cublasLt.h, cublasLtMatmulMatrixScale_t; cuBLAS documentation, 1D block scaling.
  static std::optional<std::string> supports_tiled_scales(const Machine& machine,
                                                          const Shape& shape, FormatPair inputs) {
    if (machine.compute_capability < 100) {
      return std::string("cuBLASLt multiplies ") +
             (inputs.a == Format::fp4_e2m1 ? "nvfp4" : "mxfp8") +
             " from compute capability 10.0 on";
    }
    return supports(machine, shape, inputs);
  }

  LtProduct(Queue& queue, const Shape& shape, FormatPair inputs, LtOptions options)
      : layout_(shape.layout()),
        inputs_(inputs),
        options_(options),
        stream_(stream_of(queue)),
        workspace_(queue.allocate(Cublas::kWorkspaceBytes)) {
    // The versions of cuBLAS in CUDA 12.9 and 12.8.
    if (options.scales == LtScales::fp32_of_128 && cublasLtGetVersion() < 120900) {
      throw Unsupported("cuBLASLt scales blocks of 128 from version 12.9 on");
    }
    const bool tiled =
        options.scales == LtScales::ue8m0_of_32 || options.scales == LtScales::ue4m3_of_16;
    if (tiled && cublasLtGetVersion() < 120800) {
      throw Unsupported("cuBLASLt multiplies mxfp8 and nvfp4 from version 12.8 on");
    }
    cublasLtHandle_t created = nullptr;
    check(cublasLtCreate(&created));
    handle_ = {created, [](cublasLtHandle_t handle) { cublasLtDestroy(handle); }};
    describe_operands(shape);
  }

  // The product of another shape with this one's handle and workspace; an algorithm has to be
  // chosen.
  [[nodiscard]] LtProduct of_shape(const Shape& shape) const {
    LtProduct other = *this;
    other.describe_operands(shape);
    return other;
  }

  // Up to `most` algorithms, at most kMostAlgorithms, in the order of the library's estimate of
  // their speed. Throws Unsupported where it has none.
  [[nodiscard]] std::vector<LtAlgorithm> algorithms(int most) const {
    using cublaslt_detail::set;
    cublasLtMatmulPreference_t created = nullptr;
    check(cublasLtMatmulPreferenceCreate(&created));
    const std::shared_ptr<cublasLtMatmulPreferenceOpaque_t> preference{
        created, [](cublasLtMatmulPreference_t p) { cublasLtMatmulPreferenceDestroy(p); }};
    set(created, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{Cublas::kWorkspaceBytes});
    for (const auto operand :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      set(created, operand, options_.alignment);
    }
    // Where the library splits k, it sums the parts in fp32, as the record says, not in the
    // output's format.
    set(created, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    std::array<cublasLtMatmulHeuristicResult_t, kMostAlgorithms> found{};
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle_.get(), operation(workspace_.get(), any_scales()).get(), b_.get(), a_.get(),
        c_.get(), c_.get(), created, std::min(most, kMostAlgorithms), found.data(), &count);
    std::vector<LtAlgorithm> algorithms;
    for (int i = 0; i < count; ++i) {
      const cublasLtMatmulHeuristicResult_t& result = found[static_cast<std::size_t>(i)];
      if (result.state == CUBLAS_STATUS_SUCCESS) algorithms.push_back({result.algo});
    }
    if (algorithms.empty()) {
      throw Unsupported(std::string("cuBLASLt has no algorithm for this case: ") +
                        cublasGetStatusName(status));
    }
    return algorithms;
  }

  void choose(const LtAlgorithm& algorithm) { algorithm_ = algorithm; }

  // The chosen algorithm by the library's own numbers (cublasLt.h), for the record.
  [[nodiscard]] std::string choice() const {
    using cublaslt_detail::config;
    const cublasLtMatmulAlgo_t& algorithm = algorithm_.value;
    return "algorithm " + config<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID) + ", tile " +
           config<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID) + ", stages " +
           config<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID) + ", cluster shape " +
           config<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID) + ", split k " +
           config<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM) + ", option " +
           config<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION);
  }

  // Operands in their storage formats; `bias` only with gelu, `scales` only with scales.
  // Throws Unsupported for a pointer that is not aligned as the library's estimates assume.
  [[nodiscard]] Launch bind(const void* a, const void* b, const void* bias, void* c,
                            const LtBlockScales& scales = {}) const {
    for (const void* operand : std::array<const void*, 6>{a, b, bias, c, scales.a, scales.b}) {
      if (reinterpret_cast<std::uintptr_t>(operand) % options_.alignment != 0) {
        throw Unsupported("an operand is not aligned to " + std::to_string(options_.alignment) +
                          " bytes");
      }
    }
    return [*this, operation = operation(bias, scales), a, b, c] {
      constexpr float one = 1;
      constexpr float zero = 0;
      check(cublasLtMatmul(handle_.get(), operation.get(), &one, b, b_.get(), a, a_.get(), &zero, c,
                           c_.get(), c, c_.get(), &algorithm_.value, workspace_.get(),
                           Cublas::kWorkspaceBytes, stream_));
    };
  }

 private:
  using Operation = std::shared_ptr<cublasLtMatmulDescOpaque_t>;
  using Matrix = std::shared_ptr<cublasLtMatrixLayoutOpaque_t>;

  void describe_operands(const Shape& shape) {
    const std::int64_t batch = batch_of(shape);
    a_ = describe(inputs_.a, lines_of_a(shape), batch);
    b_ = describe(inputs_.b, lines_of_b(shape), batch);
    c_ = describe(product_format(inputs_), lines_of_c(shape), batch);
  }

  // A row-major matrix, or `batch` of them.
  static Matrix describe(Format format, const StoredLines& stored, std::int64_t batch) {
    using cublaslt_detail::set;
    cublasLtMatrixLayout_t created = nullptr;
    check(cublasLtMatrixLayoutCreate(&created, cublaslt_detail::type(format),
                                     static_cast<std::uint64_t>(stored.length),
                                     static_cast<std::uint64_t>(stored.lines), stored.stride));
    Matrix matrix{created, [](cublasLtMatrixLayout_t m) { cublasLtMatrixLayoutDestroy(m); }};
    if (batch > 1) {
      set(created, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
      set(created, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stored.elements());
    }
    return matrix;
  }

  // For estimates, which do not read them.
  [[nodiscard]] LtBlockScales any_scales() const { return {workspace_.get(), workspace_.get()}; }

  // The library's A is our B.
  void set_block_scales([[maybe_unused]] cublasLtMatmulDesc_t operation,
                        [[maybe_unused]] const LtBlockScales& scales) const {
#if CUBLAS_VERSION >= 120800
    const auto set_scales = [&](auto mode_of_a, auto mode_of_b) {
      using cublaslt_detail::set;
      set(operation, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode_of_b);
      set(operation, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode_of_a);
      set(operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scales.b);
      set(operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scales.a);
    };
    if (options_.scales == LtScales::ue8m0_of_32) {
      return set_scales(CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0,
                        CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0);
    }
    if (options_.scales == LtScales::ue4m3_of_16) {
      return set_scales(CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3,
                        CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3);
    }
#if CUBLAS_VERSION >= 120900
    return set_scales(CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F,
                      CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F);
#endif
#endif
    throw Unsupported("built with a cuBLASLt that is too old for these scales");
  }

  // Bias and scales are a part of the operation, so every set of buffers has its own operation.
  [[nodiscard]] Operation operation(const void* bias, const LtBlockScales& scales) const {
    using cublaslt_detail::set;
    const bool tf32 = inputs_.a == Format::tf32;
    cublasLtMatmulDesc_t created = nullptr;
    check(cublasLtMatmulDescCreate(
        &created, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F));
    Operation operation{created, [](cublasLtMatmulDesc_t o) { cublasLtMatmulDescDestroy(o); }};
    set(created, CUBLASLT_MATMUL_DESC_TRANSA, layout_ == Layout::nt ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(created, CUBLASLT_MATMUL_DESC_TRANSB, layout_ == Layout::tn ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (info(inputs_.a).storage_bytes == 1) {
      set(created, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{options_.fast_accumulation});
    }
    if (options_.gelu) {
      set(created, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS);
      set(created, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    }
    if (options_.scales != LtScales::none) set_block_scales(created, scales);
    return operation;
  }

  Layout layout_;
  FormatPair inputs_;
  LtOptions options_;
  cudaStream_t stream_;
  std::shared_ptr<void> workspace_;
  std::shared_ptr<cublasLtContext> handle_;
  Matrix a_, b_, c_;
  LtAlgorithm algorithm_{};
};

}  // namespace ridgebench::cuda

#endif
