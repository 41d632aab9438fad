#include "harness/device/isolated/gpu/memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/device/cuda/driver_calls.hpp"
#include "kernels/common/ceil_div.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

using driver_abi::AllocationProperties;
using driver_abi::Location;

// CUresult
constexpr int kDriverOutOfMemory = 2;
// CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
// CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ALLOC_GRANULARITY_MINIMUM
constexpr int kPinned = 1;
constexpr int kPosixDescriptor = 1;
constexpr int kOfDevice = 1;
constexpr int kMinimum = 0;
// CU_MEM_ACCESS_FLAGS_PROT_READ, CU_MEM_ACCESS_FLAGS_PROT_READWRITE
constexpr int kReadOnly = 1;
constexpr int kReadWrite = 3;

using Handle = std::uint64_t;   // CUmemGenericAllocationHandle
using Address = std::uint64_t;  // CUdeviceptr
constexpr std::uint64_t kNoFlags = 0;

// Never destroyed, because the registry frees memory at the very end.
const DriverLibrary& memory_driver() {
  static const auto& driver = *new DriverLibrary;
  return driver;
}

[[noreturn]] void refuse(const char* function, int status) {
  const std::string name = memory_driver().name_of(status);
  throw std::runtime_error(fmt::format("the driver cannot share memory of the GPU: {} returned {}",
                                       function, name.empty() ? std::to_string(status) : name));
}

template <class... Arguments>
void require_call(const char* function, Arguments... arguments) {
  if (const int status = memory_driver().call(function, arguments...)) refuse(function, status);
}

// A reference to an allocation, which lives until its last handle and mapping go.
class AllocationHandle {
 public:
  explicit AllocationHandle(Handle handle) : handle_(handle) {}
  AllocationHandle(const AllocationHandle&) = delete;  // released once
  AllocationHandle& operator=(const AllocationHandle&) = delete;
  ~AllocationHandle() { memory_driver().call("cuMemRelease", handle_); }
  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Handle handle_;
};

Location location_of(int gpu) {
  int device = 0;
  require_call("cuDeviceGet", &device, gpu);
  return {kOfDevice, device};
}

int set_access(Address address, std::size_t bytes, const Location& location, int flags) {
  const driver_abi::Access access{location, flags};
  return memory_driver().call("cuMemSetAccess", address, bytes, &access, std::size_t{1});
}

std::shared_ptr<void> map_handle(const AllocationHandle& handle, std::size_t bytes,
                                 const Location& location, bool writable) {
  Address address = 0;
  require_call("cuMemAddressReserve", &address, bytes, std::size_t{0}, Address{0}, kNoFlags);
  if (const int status = memory_driver().call("cuMemMap", address, bytes, std::size_t{0},
                                              handle.get(), kNoFlags)) {
    memory_driver().call("cuMemAddressFree", address, bytes);
    refuse("cuMemMap", status);
  }
  // Addresses of the driver are integers. NOLINTNEXTLINE(performance-no-int-to-ptr)
  std::shared_ptr<void> memory(reinterpret_cast<void*>(address), [address, bytes](void*) {
    memory_driver().call("cuMemUnmap", address, bytes);
    memory_driver().call("cuMemAddressFree", address, bytes);
  });
  if (!writable && set_access(address, bytes, location, kReadOnly) == 0) return memory;
  if (const int status = set_access(address, bytes, location, kReadWrite)) {
    refuse("cuMemSetAccess", status);
  }
  return memory;
}

}  // namespace

std::shared_ptr<void> allocate_gpu_arena(int gpu, std::size_t bytes, bool writable) {
  const AllocationProperties properties{.type = kPinned,
                                        .handle_types = kPosixDescriptor,
                                        .location = location_of(gpu),
                                        .windows = nullptr,
                                        .flags = {}};
  std::size_t page = 0;
  require_call("cuMemGetAllocationGranularity", &page, &properties, kMinimum);
  const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), page);
  Handle created = 0;
  const int status = memory_driver().call("cuMemCreate", &created, size, &properties, kNoFlags);
  if (status == kDriverOutOfMemory) throw OutOfMemory(static_cast<double>(size), 0);
  if (status != 0) refuse("cuMemCreate", status);
  const AllocationHandle handle(created);
  std::shared_ptr<void> memory = map_handle(handle, size, properties.location, true);
  int descriptor = -1;
  require_call("cuMemExportToShareableHandle", static_cast<void*>(&descriptor), handle.get(),
               kPosixDescriptor, kNoFlags);
  return share_memory(
      std::move(memory),
      {.bytes = size, .descriptor = descriptor, .writable = writable, .of_host = false});
}

MappedArena map_gpu_arena(int gpu, int descriptor, std::size_t bytes, bool writable) {
  Handle imported = 0;
  const int status = memory_driver().call(
      "cuMemImportFromShareableHandle", &imported,
      // The driver takes a descriptor as a pointer. NOLINTNEXTLINE(performance-no-int-to-ptr)
      reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)), kPosixDescriptor);
  close(descriptor);
  if (status != 0) refuse("cuMemImportFromShareableHandle", status);
  return {map_handle(AllocationHandle(imported), bytes, location_of(gpu), writable), bytes};
}

}  // namespace ridgebench
