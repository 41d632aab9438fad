#include "kernels/common/shared_library.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <utility>

#include "kernels/common/error.hpp"

namespace ridgebench {

namespace {

// Whether this process can map so much memory: a limit (ulimit -v) may keep it from that.
bool can_map(std::size_t bytes) {
  if (bytes == 0) return true;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED && munmap(memory, bytes) == 0;
}

}  // namespace

SharedLibrary::SharedLibrary(std::string file, std::size_t bytes)
    : file_(std::move(file)),
      bytes_(bytes),
      handle_(can_map(bytes) ? dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr) {}

void* SharedLibrary::find(const char* function) const {
  return loaded() ? dlsym(handle_, function) : nullptr;
}

void* SharedLibrary::require(const char* function) const {
  if (!loaded()) {
    const std::string needs =
        bytes_ == 0 ? "" : " (it maps " + std::to_string(bytes_ >> 20U) + " MiB)";
    throw Unsupported(file_ + " is not installed, or cannot be loaded" + needs);
  }
  void* const address = find(function);
  if (address == nullptr) throw Unsupported(file_ + " has no function " + function);
  return address;
}

void SharedLibrary::unload() {
  if (loaded()) dlclose(handle_);
  handle_ = nullptr;
}

}  // namespace ridgebench
