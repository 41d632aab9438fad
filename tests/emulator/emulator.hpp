// Runs CUDA kernels on the host, to test their indexing, tails, reductions, use of shared memory
// and treatment of NaN on machines without a GPU. It says nothing about speed.
//
// How it works. rewrite.py turns every .cu and .cuh of kernels/ into C++ (launches, shared memory
// and inline PTX become calls of this folder's functions) and g++ compiles that against the
// toolkit's own headers and what stands in for them in include/. The threads of a block are fibers
// (fiber.hpp) on one processor. The blocks of a cluster run at once (cluster.hpp), and clusters one
// after the other. TMA and wgmma do their work as late as they may, or, with the threads in the
// opposite order, as early as they can.
//
// What it notices beyond wrong results, mostly as a Fault that names kernel, block and thread:
// - a barrier or an instruction of a warp or a warpgroup that not all who must come to it do, and
//   any other wait without end: of mbarriers and clusters (deadlock.cpp), of setmaxnreg;
// - shared memory read before it is written, before an asynchronous copy or TMA has been waited for
//   or overwritten by it while it is still read, and sums of wgmma before they have been waited
//   for: all hold NaN at those times;
// - misuse of an mbarrier (mbarrier.hpp), of a tensor map (tensor_map.hpp), of a matrix descriptor
//   (wgmma_operand.hpp), and a missing wgmma.fence;
// - what threads write and TMA or wgmma read without fence.proxy.async between (async_proxy.hpp);
// - a block that reaches into another that has ended, and one that ends before TMA has read its
//   memory or written to it, or before its products are done;
// - a race between threads, where it shows when they run in the opposite order (set_order);
// - misaligned access by ldmatrix, cp.async and cached loads; too much shared memory; a grid or a
//   block that no GPU accepts;
// - access outside the operands: a write breaks their guards, what is read there is NaN
//   (tests/support/guarded_array.hpp). Built with the address sanitizer, any access there and any
//   outside a shared array ends the program.
//
// What it does not know: the accuracy of the GPU's own tanh and the like, the order and the width
// in which tensor cores add, memory that another cluster changes meanwhile, libraries. Of TMA it
// knows matrices in boxes, unswizzled or swizzled by 128 bytes, of wgmma operands that are; files
// that use libraries are left out by CMakeLists.txt.
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

// The kernel does what on a GPU would hang, trap or leave garbage.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The kernel uses what the emulator does not know; an instruction is added in ptx*.cpp.
class NotEmulated : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws a Fault that says which kernel, block and thread it is in.
[[noreturn]] void fault(const std::string& text);

// The order in which threads, warps and blocks run, for launches from here on. A kernel that is
// right cannot tell. `hesitant` is ascending, but a warp that arrives at an mbarrier goes on when
// nobody else can: who waited for it finds out whether it has arrived too early.
enum class Order { ascending, descending, hesitant };
void set_order(Order order);

// The made-up GPU, for techniques that ask: 90 for compute capability 9.0, which it starts with.
// What is emulated does not depend on it.
void set_compute_capability(int capability);
inline constexpr int kMultiprocessors = 4;
void set_multiprocessors(int count);

// Memory around the operands, while this lives. Built with the address sanitizer, a kernel that
// reads or writes it ends the program with a report.
class ForbiddenMemory {
 public:
  explicit ForbiddenMemory(std::vector<std::span<const std::byte>> memory);
  ForbiddenMemory(const ForbiddenMemory&) = delete;  // there is one at a time
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
  // Of a kernel that says its name itself.
  explicit Launch(const cudaLaunchConfig_t& configuration);

  // Tells which kernel it is, for the limit of its dynamic shared memory.
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
  // Runs the work of a thread in every thread, or keeps it for a graph.
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
};

// What cudaLaunchKernelEx becomes.
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(const cudaLaunchConfig_t* configuration, void (*kernel)(Parameters...),
                          const Arguments&... arguments) {
  Launch(*configuration).of(kernel)(kernel, static_cast<Parameters>(arguments)...);
  return cudaSuccess;
}

}  // namespace ridgebench::emulator
