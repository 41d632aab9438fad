// Memory of a GPU that another process can map, by the driver's functions for virtual memory.
// cudaIpcGetMemHandle() would share it, too, but lets the other process write into all of it. Here
// a descriptor represents an allocation, as for memory of a host, and a mapping may be read-only.
// Source: CUDA Driver API reference, "Virtual Memory Management". Its calls need no CUDA runtime.
#pragma once

#include <cstddef>
#include <memory>

#include "harness/device/isolated/shared_memory.hpp"

namespace ridgebench {

// Allocates an arena (shared_memory.hpp) of undefined content. `gpu` is the driver's index. Throws
// OutOfMemory, and std::runtime_error, which names the function, where the driver refuses.
std::shared_ptr<void> allocate_gpu_arena(int gpu, std::size_t bytes, bool writable);

// Maps such an arena of another process, and takes its descriptor. A driver that cannot map memory
// read-only maps it writable. Throws std::runtime_error.
MappedArena map_gpu_arena(int gpu, int descriptor, std::size_t bytes, bool writable);

// Parameters of the functions, for a comparison with the header of the driver.
namespace driver_abi {

struct Location {  // CUmemLocation
  int type;
  int id;
};
struct AllocationProperties {  // CUmemAllocationProp
  int type;
  int handle_types;
  Location location;
  void* windows;
  unsigned char flags[8];
};
struct Access {  // CUmemAccessDesc
  Location location;
  int flags;
};

}  // namespace driver_abi
}  // namespace ridgebench
