// Stands for NVIDIA's driver library, libcuda.so.1: a driver that refuses to start, for the reason
// that FAKE_CUDA_ERROR names (a CUresult), or that serves an older CUDA (FAKE_CUDA_VERSION, 13000
// for 13.0). It has two GPUs (FAKE_CUDA_GPUS), of which CUDA_VISIBLE_DEVICES hides some.
//
// The CUDA runtime finds them broken. `doctor`, which calls the driver itself, finds GPUs named
// FAKE_GPU_NAME of the compute capability FAKE_CUDA_CAPABILITY (90). FAKE_CUDA_HANGS and
// FAKE_CUDA_CRASHES name what never returns or ends the process: "init", or the number of a GPU
// whose context does. FAKE_CUDA_CONTEXT is "1:46" where GPU 1 refuses a context with error 46.
//
// Memory that another process can map is memory of the host. FAKE_CUDA_REFUSES names a function
// that returns CUDA_ERROR_NOT_SUPPORTED.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kNotSupported = 801;
constexpr int kUnknown = 999;
constexpr std::string_view kUuids[]{"GPU-0aa0e1f2-3c4d-5e6f-7081-92a3b4c5d6e7",
                                    "GPU-0bb0e1f2-3c4d-5e6f-7081-92a3b4c5d6e7"};

constexpr std::size_t kPage = std::size_t{2} << 20U;

int number(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool names_a_gpu(std::string_view entry) {
  if (entry == "0" || entry == "1") return true;
  for (const std::string_view uuid : kUuids) {
    if (entry.size() > 4 && uuid.starts_with(entry)) return true;
  }
  return false;
}

// The driver ignores what follows the first entry that names no GPU. Source: CUDA C++ Programming
// Guide, "CUDA Environment Variables".
bool shows_a_gpu() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return true;
  const std::string_view entries = visible;
  return names_a_gpu(entries.substr(0, entries.find(',')));
}

bool named_by(const char* variable, const std::string& what) {
  const char* const text = std::getenv(variable);
  return text != nullptr && text == what;
}

void misbehave(const std::string& what) {
  if (named_by("FAKE_CUDA_HANGS", what)) pause();
  if (named_by("FAKE_CUDA_CRASHES", what)) std::abort();
}

// Stands for every function that the runtime requests and this library lacks.
int broken() { return kUnknown; }

}  // namespace

extern "C" {

int cuInit(unsigned /*flags*/) {
  misbehave("init");
  const int error = number("FAKE_CUDA_ERROR", 0);
  return error == 0 && !shows_a_gpu() ? kNoDevice : error;
}

int cuDriverGetVersion(int* version) {
  *version = number("FAKE_CUDA_VERSION", 99000);
  return 0;
}

int cuGetProcAddress_v2(const char* symbol, void** function, int /*version*/,
                        std::uint64_t /*flags*/, int* status) {
  const std::string name = symbol;
  if (name == "cuInit") {
    *function = reinterpret_cast<void*>(&cuInit);
  } else if (name == "cuDriverGetVersion") {
    *function = reinterpret_cast<void*>(&cuDriverGetVersion);
  } else if (name == "cuGetProcAddress") {
    *function = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  } else {
    *function = reinterpret_cast<void*>(&broken);
  }
  if (status != nullptr) *status = 0;
  return 0;
}

// The numbers of CUDA_VISIBLE_DEVICES up to the first entry that names no GPU.
int cuDeviceGetCount(int* count) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  *count = number("FAKE_CUDA_GPUS", 2);
  if (visible == nullptr) return 0;
  *count = 0;
  const std::string entries = std::string(visible) + ',';
  for (std::size_t at = 0; at < entries.size(); at = entries.find(',', at) + 1) {
    if (!names_a_gpu(entries.substr(at, entries.find(',', at) - at))) break;
    ++*count;
  }
  return 0;
}
int cuDeviceGet(int* device, int index) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");  // "1" moves GPU 1 to the front
  *device = index + (visible != nullptr && visible == std::string_view("1") ? 1 : 0);
  return 0;
}
int cuDeviceGetName(char* text, int length, int /*device*/) {
  const char* const name = std::getenv("FAKE_GPU_NAME");
  std::snprintf(text, static_cast<std::size_t>(length), "%s",
                name == nullptr ? "NVIDIA H100 80GB HBM3" : name);
  return 0;
}
int cuDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", 0x1b + device);
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int /*device*/) {
  *bytes = std::size_t{80} << 30U;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int /*device*/) {
  const int capability = number("FAKE_CUDA_CAPABILITY", 90);
  *value = attribute == 75   ? capability / 10
           : attribute == 76 ? capability % 10
           : attribute == 16 ? 132
                             : 50 << 20;
  return 0;
}
int cuGetErrorName(int /*error*/, const char** /*name*/) { return 1; }
int cuDevicePrimaryCtxRetain(void** /*context*/, int device) {
  const std::string name = std::to_string(device);
  misbehave(name);
  const char* const refused = std::getenv("FAKE_CUDA_CONTEXT");
  if (refused == nullptr || !std::string_view(refused).starts_with(name + ':')) return 0;
  return std::atoi(refused + name.size() + 1);
}
int cuCtxSetCurrent(void* /*context*/) { return 0; }
int cuMemAlloc_v2(std::uint64_t* address, std::size_t /*bytes*/) {
  *address = 1;
  return 0;
}
int cuMemsetD8_v2(std::uint64_t /*address*/, unsigned char /*value*/, std::size_t /*bytes*/) {
  return 0;
}
int cuCtxSynchronize() { return 0; }

int cuMemGetAllocationGranularity(std::size_t* bytes, const void* properties, int /*option*/) {
  if (static_cast<const int*>(properties)[1] != 1) return kInvalidValue;  // a POSIX descriptor
  *bytes = kPage;
  return 0;
}
// A handle is a descriptor.
int cuMemCreate(std::uint64_t* handle, std::size_t bytes, const void* /*properties*/,
                std::uint64_t /*flags*/) {
  if (named_by("FAKE_CUDA_REFUSES", "cuMemCreate")) return kNotSupported;
  if (bytes == 0 || bytes % kPage != 0) return kInvalidValue;
  const int file = memfd_create("fake_libcuda", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return kOutOfMemory;
  *handle = static_cast<std::uint64_t>(file);
  return 0;
}
int cuMemRelease(std::uint64_t handle) { return close(static_cast<int>(handle)); }
int cuMemExportToShareableHandle(void* shared, std::uint64_t handle, int /*type*/,
                                 std::uint64_t /*flags*/) {
  *static_cast<int*>(shared) = dup(static_cast<int>(handle));
  return 0;
}
int cuMemImportFromShareableHandle(std::uint64_t* handle, void* shared, int /*type*/) {
  if (named_by("FAKE_CUDA_REFUSES", "cuMemImportFromShareableHandle")) return kNotSupported;
  *handle =
      static_cast<std::uint64_t>(dup(static_cast<int>(reinterpret_cast<std::intptr_t>(shared))));
  return 0;
}
int cuMemAddressReserve(std::uint64_t* address, std::size_t bytes, std::size_t /*alignment*/,
                        std::uint64_t /*wanted*/, std::uint64_t /*flags*/) {
  void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *address = reinterpret_cast<std::uint64_t>(memory);
  return memory == MAP_FAILED ? kOutOfMemory : 0;
}
int cuMemMap(std::uint64_t address, std::size_t bytes, std::size_t /*offset*/, std::uint64_t handle,
             std::uint64_t /*flags*/) {
  void* const memory = mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
                            MAP_SHARED | MAP_FIXED, static_cast<int>(handle), 0);
  return memory == MAP_FAILED ? kInvalidValue : 0;
}
int cuMemSetAccess(std::uint64_t address, std::size_t bytes, const void* access,
                   std::size_t /*count*/) {
  const bool writable = static_cast<const int*>(access)[2] == 3;
  if (!writable && named_by("FAKE_CUDA_REFUSES", "read-only mappings")) return kNotSupported;
  return mprotect(reinterpret_cast<void*>(address), bytes,
                  writable ? PROT_READ | PROT_WRITE : PROT_READ);
}
int cuMemUnmap(std::uint64_t address, std::size_t bytes) {
  return munmap(reinterpret_cast<void*>(address), bytes);
}
int cuMemAddressFree(std::uint64_t /*address*/, std::size_t /*bytes*/) { return 0; }

int cuMemFree_v2(std::uint64_t /*address*/) { return 0; }
int cuDevicePrimaryCtxRelease_v2(int /*device*/) { return 0; }
}
