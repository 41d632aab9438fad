#include <fmt/format.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include <utility>

#include "tests/emulator/core/graph.hpp"
#include "tests/emulator/core/indices.hpp"
#include "tests/emulator/core/runtime_api.hpp"
#include "tests/emulator/core/text.hpp"
#include "tests/emulator/core/watched_memory.hpp"
#include "tests/emulator/core/work.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/hopper/cluster.hpp"

namespace ridgebench::emulator {
namespace {

// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr unsigned kMostThreads = 1024;
constexpr unsigned kMostBlocksX = 0x7fffffff;
constexpr unsigned kMostBlocksYZ = 65535;
constexpr unsigned kMostBlocksOfCluster = 8;

Order order_of_launches = Order::ascending;
std::vector<std::span<const std::byte>> forbidden;

// Forbidden while kernels run; the host reads the guards again afterwards.
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

}  // namespace

void set_order(Order order) { order_of_launches = order; }

ForbiddenMemory::ForbiddenMemory(std::vector<std::span<const std::byte>> memory) {
  forbidden = std::move(memory);
}
ForbiddenMemory::~ForbiddenMemory() { forbidden.clear(); }

Launch::Launch(std::string_view kernel, dim3 grid, dim3 block, std::size_t shared,
               cudaStream_t /*stream*/, const std::source_location& where)
    : kernel_(fmt::format("{} ({})", kernel, text(where))),
      grid_(grid),
      block_(block),
      shared_(shared) {}

Launch::Launch(const cudaLaunchConfig_t& configuration)
    : grid_(configuration.gridDim),
      block_(configuration.blockDim),
      shared_(configuration.dynamicSmemBytes) {
  for (unsigned i = 0; i < configuration.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = configuration.attrs[i];
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      dependent_ = attribute.val.programmaticStreamSerializationAllowed != 0;
      continue;
    }
    if (attribute.id != cudaLaunchAttributeClusterDimension) {
      throw NotEmulated("launch attribute " + std::to_string(attribute.id));
    }
    cluster_ = attribute.val.clusterDim.x;
    if (attribute.val.clusterDim.y != 1 || attribute.val.clusterDim.z != 1) {
      throw NotEmulated("clusters along y or z");
    }
  }
}

void Launch::refuse(const std::string& text) const {
  fault((kernel_.empty() ? "a kernel launched by its address" : kernel_) + ": " + text);
}

void Launch::require_valid() const {
  const std::size_t threads = std::size_t{block_.x} * block_.y * block_.z;
  if (threads == 0 || threads > kMostThreads || block_.z > 64) {
    refuse(fmt::format("block of {} x {} x {} threads", block_.x, block_.y, block_.z));
  }
  if (grid_.x == 0 || grid_.y == 0 || grid_.z == 0 || grid_.x > kMostBlocksX ||
      grid_.y > kMostBlocksYZ || grid_.z > kMostBlocksYZ) {
    refuse(fmt::format("grid of {} x {} x {} blocks", grid_.x, grid_.y, grid_.z));
  }
  if (cluster_ == 0 || cluster_ > kMostBlocksOfCluster || grid_.x % cluster_ != 0) {
    refuse(fmt::format("clusters of {} in a grid of {} blocks along x", cluster_, grid_.x));
  }
  if (shared_ > most_dynamic_bytes(address_)) {
    refuse(fmt::format("{} bytes of dynamic shared memory, where it may have {}", shared_,
                       most_dynamic_bytes(address_)));
  }
}

void Launch::start(const std::function<void()>& thread) const {
  require_valid();
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
  const WatchedLaunch watched;
  const Work work{.kernel = kernel_,
                  .thread = thread,
                  .grid = grid_,
                  .block = block_,
                  .shared = shared_,
                  .cluster = cluster_,
                  .dependent = dependent_,
                  .order = order_of_launches};
  const std::size_t clusters = std::size_t{grid_.x} * grid_.y * grid_.z / cluster_;
  for (std::size_t i = 0; i < clusters; ++i) {
    const std::size_t b = work.ordered(i, clusters) * cluster_;
    WatchedLaunch::begin(cluster_);
    Cluster cluster(
        work, {static_cast<unsigned>(b % grid_.x), static_cast<unsigned>(b / grid_.x % grid_.y),
               static_cast<unsigned>(b / grid_.x / grid_.y)});
    cluster.run();
  }
}

}  // namespace ridgebench::emulator
