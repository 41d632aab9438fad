// Anonymous memory of this process.
#pragma once

#include <cstddef>
#include <memory>

namespace ridgebench {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20U;

// Returns the bytes that map_pages() takes for `bytes`.
std::size_t mapped_bytes(std::size_t bytes);

// Returns anonymous memory in whole huge pages, if the kernel grants them: it clears them four
// times as fast as small ones. Null if the kernel refuses the memory.
std::shared_ptr<void> map_pages(std::size_t bytes);

}  // namespace ridgebench
