// Runs CUDA kernels on the host, to test their indexing, tails, reductions, use of shared memory
// and treatment of NaN on machines without a GPU. It says nothing about speed.
//
// How it works. rewrite.py turns every .cu and .cuh of kernels/ into C++ (launches, shared arrays
// and inline PTX become calls of this folder's functions) and g++ compiles that against the
// toolkit's own headers and include/cuda_runtime.h, which adds what only nvcc knows. The threads of
// a block are fibers (fiber.hpp) on one processor, and one block runs after the other (block.hpp).
//
// What it notices beyond wrong results, mostly as a Fault that names kernel, block and thread:
// - a barrier or a warp-wide instruction that not all who must come to it do;
// - shared memory read before it is written or before an asynchronous copy has been waited for, or
//   overwritten by such a copy while it is still read: it holds NaN at those times;
// - a race between threads, where it shows when they run in the opposite order (set_order);
// - misaligned access by ldmatrix, cp.async and cached loads; too much shared memory; a grid or a
//   block that no GPU accepts;
// - access outside the operands: a write breaks their guards, what is read there is NaN
//   (tests/support/guarded_array.hpp). Built with the address sanitizer, any access there and any
//   outside a shared array ends the program.
//
// What it does not know: the accuracy of the GPU's own tanh and the like, the order and the width
// in which tensor cores add, memory that another block changes meanwhile, clusters, TMA, wgmma,
// mbarriers, libraries. Files of kernels that use those are left out by CMakeLists.txt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ridgepoint::emulator {

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
// right cannot tell.
enum class Order { ascending, descending };
void set_order(Order order);

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

  template <class Kernel, class... Arguments>
  void operator()(Kernel kernel, Arguments... arguments) const {
    start([=] { kernel(arguments...); });
  }

 private:
  // Runs the work of a thread in every thread, or keeps it for a graph.
  void start(const std::function<void()>& thread) const;
  void run(const std::function<void()>& thread) const;

  std::string kernel_;
  dim3 grid_;
  dim3 block_;
};

}  // namespace ridgepoint::emulator
