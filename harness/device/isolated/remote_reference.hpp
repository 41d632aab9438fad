// The reference of an operation that a loaded file brought along.
#pragma once

#include <memory>
#include <span>

#include "harness/device/isolated/kernels_file.hpp"
#include "kernels/common/reference/batched.hpp"

namespace ridgebench {

// BatchedReference::compute of such an operation: the file's process that launches nothing computes
// them.
class RemoteReference {
 public:
  // `operation` is its number in the file.
  RemoteReference(std::shared_ptr<KernelsFile> file, std::size_t operation);

  void operator()(const Shape& shape, std::span<const RowsOfSet> sets) const;

 private:
  std::shared_ptr<KernelsFile> file_;
  std::size_t operation_;
};

}  // namespace ridgebench
