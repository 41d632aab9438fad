// Runs CUDA kernels on the host, to test their indexing, tails, reductions, use of shared memory
// and treatment of NaN on machines without a GPU. It does not model speed.
//
// rewrite.py turns every .cu and .cuh of kernels/ into C++: launches, shared memory and inline PTX
// become calls of this folder's functions. g++ compiles that against the toolkit's own headers and
// their replacements in include/. The threads of a block are fibers (core/fiber.hpp) on one
// processor. The blocks of a cluster run at the same time (hopper/cluster.hpp), and clusters run
// one after the other. TMA and wgmma do their work as late as they may or, with the threads in the
// opposite order, as early as they can. core/ holds blocks, threads and the runtime's functions,
// ptx/ the instructions, hopper/ what compute capability 9.0 added.
//
// The emulator detects wrong results and the following, mostly as a Fault that names kernel, block
// and thread:
// - a barrier or a collective instruction that not all its threads reach, and any other endless
//   wait: at mbarriers and clusters (core/deadlock.cpp) and in setmaxnreg;
// - shared memory that is read before it is written, before an asynchronous copy or TMA into it has
//   been waited for, or while TMA overwrites it, and accumulators of wgmma that are read before the
//   wait: all these hold NaN;
// - misuse of an mbarrier (hopper/mbarrier.hpp), of a tensor map (hopper/tensor_map.hpp) or of a
//   matrix descriptor (hopper/wgmma_operand.hpp), a missing wgmma.fence, and registers of A that a
//   thread writes between the fence and the wait;
// - data that threads write and TMA or wgmma read without fence.proxy.async
// (hopper/async_proxy.hpp);
// - TMA in a thread of a programmatic dependent launch that has not called griddepcontrol.wait;
// - a block that accesses another that has ended, and a block that ends before TMA has read or
//   written its memory, before its wgmmas have completed, or before it knows that another block's
//   arrivals at its mbarriers have come;
// - a race between threads that shows when they run in the opposite order (set_order);
// - misaligned access by ldmatrix, cp.async and cached loads; too much shared memory; a grid or a
//   block that no GPU accepts;
// - access outside the operands: a write breaks their guards, and a read returns NaN
//   (tests/support/guarded_array.hpp). With the address sanitizer, any access there and any outside
//   a shared array ends the program.
//
// It does not model: the accuracy of the GPU's approximate functions, the order and the width in
// which tensor cores add, memory that another cluster changes meanwhile, and libraries
// (CMakeLists.txt leaves out files that use them). It supports TMA for matrices in boxes, without
// swizzle or with that of 128 bytes, and wgmma for operands with that swizzle.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridgebench::emulator {

// The kernel does what would hang, trap or give garbage on a GPU.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The kernel uses what the emulator does not support. ptx/ is the place to add an instruction.
class NotEmulated : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws a Fault that names the kernel, block and thread.
[[noreturn]] void fault(const std::string& text);

// The order in which threads, warps and blocks run in later launches. A correct kernel gives the
// same result in each. `hesitant` is ascending, but a warp that arrives at an mbarrier continues
// only when no other can, which shows whether it arrived too early.
enum class Order { ascending, descending, hesitant };
void set_order(Order order);

// Properties of the imaginary GPU that techniques query: 90 is compute capability 9.0, the initial
// value. The emulation does not depend on them.
void set_compute_capability(int capability);
inline constexpr int kMultiprocessors = 4;
void set_multiprocessors(int count);
// Bandwidth of the memory per streaming multiprocessor, as the pins' clock; 0, the initial value:
// the driver does not say.
void set_memory_bandwidth(double bytes_per_s_and_multiprocessor);

// Marks memory around the operands while it lives. With the address sanitizer, a kernel that reads
// or writes there ends the program with a report.
class ForbiddenMemory {
 public:
  explicit ForbiddenMemory(std::vector<std::span<const std::byte>> memory);
  ForbiddenMemory(const ForbiddenMemory&) = delete;  // only one exists at a time
  ForbiddenMemory& operator=(const ForbiddenMemory&) = delete;
  ~ForbiddenMemory();
};

// `kernel<<<grid, block, shared, stream>>>(arguments...)` becomes Launch(...)(kernel,
// arguments...), which returns when all is done.
class Launch {
 public:
  Launch(std::string_view kernel, dim3 grid, dim3 block, std::size_t shared = 0,
         cudaStream_t stream = nullptr,
         const std::source_location& where = std::source_location::current());
  // For a kernel that names itself.
  explicit Launch(const cudaLaunchConfig_t& configuration);

  // Identifies the kernel, for the limit of its dynamic shared memory.
  template <class... Parameters>
  Launch&& of(void (*kernel)(Parameters...)) && {
    address_ = reinterpret_cast<const void*>(kernel);
    return std::move(*this);
  }

  template <class Kernel, class... Arguments>
  void operator()(Kernel kernel, Arguments... arguments) const {
    start([=] { kernel(arguments...); });
  }

 private:
  // Runs `thread` in every thread, or records it for a graph.
  void start(const std::function<void()>& thread) const;
  void run(const std::function<void()>& thread) const;
  void require_valid() const;
  [[noreturn]] void refuse(const std::string& text) const;

  std::string kernel_;
  const void* address_ = nullptr;
  dim3 grid_;
  dim3 block_;
  std::size_t shared_;
  unsigned cluster_ = 1;
  bool dependent_ = false;  // may start before the kernel ahead has ended
};

// Replaces cudaLaunchKernelEx.
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(const cudaLaunchConfig_t* configuration, void (*kernel)(Parameters...),
                          const Arguments&... arguments) {
  Launch(*configuration).of(kernel)(kernel, static_cast<Parameters>(arguments)...);
  return cudaSuccess;
}

}  // namespace ridgebench::emulator
