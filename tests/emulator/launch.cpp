#include <fmt/format.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include <utility>

#include "tests/emulator/block.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/graph.hpp"
#include "tests/emulator/indices.hpp"

namespace ridgepoint::emulator {
namespace {

// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr unsigned kMostThreads = 1024;
constexpr unsigned kMostBlocksX = 0x7fffffff;
constexpr unsigned kMostBlocksYZ = 65535;

Order order_of_launches = Order::ascending;
std::vector<std::span<const std::byte>> forbidden;

// While kernels run, and not before the host looks at the guards again.
class Watch {
 public:
  Watch() {
#ifdef __SANITIZE_ADDRESS__
    for (const auto& memory : forbidden) ASAN_POISON_MEMORY_REGION(memory.data(), memory.size());
#endif
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
#ifdef __SANITIZE_ADDRESS__
    for (const auto& memory : forbidden) ASAN_UNPOISON_MEMORY_REGION(memory.data(), memory.size());
#endif
  }
};

void require_valid(const std::string& kernel, dim3 grid, dim3 block, std::size_t shared) {
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > kMostThreads || block.z > 64) {
    fault(fmt::format("{}: block of {} x {} x {} threads", kernel, block.x, block.y, block.z));
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > kMostBlocksX ||
      grid.y > kMostBlocksYZ || grid.z > kMostBlocksYZ) {
    fault(fmt::format("{}: grid of {} x {} x {} blocks", kernel, grid.x, grid.y, grid.z));
  }
  if (shared > 0) throw NotEmulated(kernel + ": dynamic shared memory");
}

}  // namespace

void set_order(Order order) { order_of_launches = order; }

ForbiddenMemory::ForbiddenMemory(std::vector<std::span<const std::byte>> memory) {
  forbidden = std::move(memory);
}
ForbiddenMemory::~ForbiddenMemory() { forbidden.clear(); }

Launch::Launch(std::string_view kernel, dim3 grid, dim3 block, std::size_t shared,
               cudaStream_t /*stream*/, const std::source_location& where)
    : grid_(grid), block_(block) {
  const std::string_view file = where.file_name();
  kernel_ =
      fmt::format("{} ({}:{})", kernel, file.substr(file.find_last_of('/') + 1), where.line());
  require_valid(kernel_, grid, block, shared);
}

void Launch::start(const std::function<void()>& thread) const {
  if (Launches* const captured = captured_launches(); captured != nullptr) {
    captured->push_back([=, *this] { run(thread); });
  } else {
    run(thread);
  }
}

void Launch::run(const std::function<void()>& thread) const {
  gridDim = grid_;
  blockDim = block_;
  const Watch watch;
  const std::size_t blocks = std::size_t{grid_.x} * grid_.y * grid_.z;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t b = order_of_launches == Order::ascending ? i : blocks - 1 - i;
    blockIdx = {static_cast<unsigned>(b % grid_.x), static_cast<unsigned>(b / grid_.x % grid_.y),
                static_cast<unsigned>(b / grid_.x / grid_.y)};
    const Block done(kernel_, thread, blockIdx, block_, order_of_launches);
  }
}

}  // namespace ridgepoint::emulator
