// Special registers. Source: PTX ISA, "Special Registers".
#pragma once

namespace ridgebench::cuda {

// Nanoseconds of the device's timer, in steps of 32 ns to 1 us.
__device__ inline long long globaltimer() {
  long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

// The SM that the thread runs on.
__device__ inline unsigned smid() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

}  // namespace ridgebench::cuda
