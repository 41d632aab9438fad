#include "kernels/common/shared_library.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <utility>

#include "kernels/common/error.hpp"

namespace ridgebench {

namespace {

namespace fs = std::filesystem;

// True if this process can map so much memory: a limit (ulimit -v) may keep it from that.
bool can_map(std::size_t bytes) {
  if (bytes == 0) return true;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED && munmap(memory, bytes) == 0;
}

void* load(const std::string& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); }

void* load_from(const LibraryPlaces& places) {
  for (const std::string& name : places.names) {
    if (void* const handle = load(name)) return handle;
  }
  std::error_code ignored;
  for (const fs::path& folder : places.folders) {
    for (const std::string& name : places.names) {
      if (!fs::exists(folder / name, ignored)) continue;
      // The loader takes a library that is loaded for one that is needed.
      if (!places.needs.empty()) load(folder / places.needs);
      if (void* const handle = load(folder / name)) return handle;
    }
  }
  return nullptr;
}

}  // namespace

SharedLibrary::SharedLibrary(LibraryPlaces places, std::size_t bytes)
    : name_(places.names.front()),
      advice_(std::move(places.advice)),
      bytes_(bytes),
      handle_(can_map(bytes) ? load_from(places) : nullptr) {}

SharedLibrary::SharedLibrary(std::string file, std::size_t bytes)
    : SharedLibrary(LibraryPlaces{{std::move(file)}, {}, {}, {}}, bytes) {}

void* SharedLibrary::find(const char* function) const {
  return loaded() ? dlsym(handle_, function) : nullptr;
}

void* SharedLibrary::require(const char* function) const {
  if (!loaded()) {
    const std::string needs =
        bytes_ == 0 ? "" : " (it maps " + std::to_string(bytes_ >> 20U) + " MiB)";
    throw Unsupported(name_ + " is not installed, or cannot be loaded" + needs +
                      (advice_.empty() ? "" : "; " + advice_));
  }
  void* const address = find(function);
  if (address == nullptr) throw Unsupported(name_ + " has no function " + function);
  return address;
}

void SharedLibrary::unload() {
  if (loaded()) dlclose(handle_);
  handle_ = nullptr;
}

}  // namespace ridgebench
