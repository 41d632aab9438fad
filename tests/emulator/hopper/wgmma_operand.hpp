// Operands of wgmma in shared memory. Sources: PTX ISA, "Asynchronous warpgroup-level matrix shared
// memory layout" and "Matrix descriptor format"; CUTLASS, include/cute/arch/mma_sm90_desc.hpp and
// the canonical layouts in include/cute/atom/mma_traits_sm90_gmma.hpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/common/format.hpp"

namespace ridgebench::emulator {

class SharedMemory;

// A or B of one instruction: 32 bytes of k of vectors (rows of A or columns of B).
class WgmmaOperand {
 public:
  // Faults where the descriptor does not describe a matrix with the swizzle of 128 bytes.
  WgmmaOperand(std::uint64_t descriptor, Format format, bool across);

  // Element k * count + v is element k of vector first + v, v < count.
  [[nodiscard]] std::vector<double> read(const SharedMemory& shared, unsigned first,
                                         unsigned count) const;
  // Faults where the async proxy may not see vectors [0, count).
  void require_published(SharedMemory& shared, unsigned count, std::string_view who) const;

  [[nodiscard]] unsigned depth() const;

 private:
  // Address of the 16 bytes that hold element k of the vector.
  [[nodiscard]] std::uint32_t chunk(unsigned k, unsigned vector) const;
  // Calls `with(address, first k, first vector)` for each 16 bytes.
  template <class With>
  void for_each_chunk(unsigned first, unsigned count, const With& with) const;
  [[nodiscard]] unsigned per_chunk() const;

  std::uint32_t start_, leading_, stride_;
  Format format_;
  bool across_;
};

}  // namespace ridgebench::emulator
