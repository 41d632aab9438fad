// The clocks a kernel can read.
#pragma once

#include <cuda_runtime.h>

namespace ridgebench::cuda {

// Nanoseconds of the device's timer, the same on every SM. PTX ISA, %globaltimer; its step is for
// the device to choose, 32 ns to 1 us.
__device__ inline long long globaltimer() {
  long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

// The SM that the thread runs on. PTX ISA, %smid.
__device__ inline unsigned sm_id() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

}  // namespace ridgebench::cuda
