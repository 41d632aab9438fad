// cuBLAS, a yardstick: its status codes as exceptions and a handle for a Queue.
#pragma once

#ifdef RIDGEBENCH_NO_CUBLAS
#include "kernels/common/cuda/lib/no_cublas.cuh"
#else

#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/lib/cublas_functions.cuh"
#include "kernels/common/format.hpp"
#include "kernels/common/machine.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench::cuda {

// Throws std::runtime_error with the status and file and line of the call.
inline void check(cublasStatus_t status,
                  const std::source_location& where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string file = where.file_name();
  throw std::runtime_error(
      std::string(cublasGetStatusName(status)) + " (" + cublasGetStatusString(status) + ") at " +
      file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(where.line()));
}

template <class T>
inline constexpr cudaDataType_t kCublasType = std::is_same_v<T, float>  ? CUDA_R_32F
                                              : std::is_same_v<T, Fp16> ? CUDA_R_16F
                                                                        : CUDA_R_16BF;

// Technique::supports of every use of the library; it does not load it.
inline std::optional<std::string> supports_cublas(const Machine&, const Shape&, FormatPair) {
  return std::nullopt;
}

// A handle bound to the queue's stream, with its own workspace: cuBLAS allocates nothing during a
// launch, so a graph can capture launches. Copies share the handle, and the Launch must hold one.
// Slow to create: belongs into prepare.
class Cublas {
 public:
  // 32 MiB is what NVIDIA recommends for Hopper: cuBLAS documentation, cublasSetWorkspace.
  static constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20U;

  Cublas(Queue& queue, cublasPointerMode_t scalars) : workspace_(queue.allocate(kWorkspaceBytes)) {
    cublasHandle_t created = nullptr;
    check(cublasCreate(&created));
    handle_ = {created, [](cublasHandle_t handle) { static_cast<void>(cublasDestroy(handle)); }};
    check(cublasSetStream(created, stream_of(queue)));  // first: it resets the workspace
    check(cublasSetWorkspace(created, workspace_.get(), kWorkspaceBytes));
    check(cublasSetPointerMode(created, scalars));
  }

  [[nodiscard]] cublasHandle_t handle() const { return handle_.get(); }

 private:
  std::shared_ptr<void> workspace_;  // outlives the handle
  std::shared_ptr<cublasContext> handle_;
};

}  // namespace ridgebench::cuda

#endif
