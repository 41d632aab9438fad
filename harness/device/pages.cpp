#include "harness/device/pages.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "kernels/common/ceil_div.hpp"

namespace ridgebench {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  return round_up(std::max<std::size_t>(bytes, 1), kHugePage);
}

}  // namespace

std::size_t mapped_bytes(std::size_t bytes) {
  return whole_pages(bytes) + kHugePage;  // room to align the block
}

std::shared_ptr<void> map_pages(std::size_t bytes) {
  const std::size_t mapped = mapped_bytes(bytes);
  void* const base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  void* aligned = base;
  std::size_t space = mapped;
  const std::size_t size = whole_pages(bytes);
  std::align(kHugePage, size, aligned, space);
  madvise(aligned, size, MADV_HUGEPAGE);  // a kernel without huge pages may refuse
  return {aligned, [base, mapped](void*) { munmap(base, mapped); }};
}

}  // namespace ridgebench
