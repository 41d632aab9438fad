#include "kernels/common/shared_library.hpp"

#include <dlfcn.h>

#include <utility>

#include "kernels/common/error.hpp"

namespace ridgebench {

SharedLibrary::SharedLibrary(std::string file)
    : file_(std::move(file)), handle_(dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

void* SharedLibrary::find(const char* function) const {
  return loaded() ? dlsym(handle_, function) : nullptr;
}

void* SharedLibrary::require(const char* function) const {
  if (!loaded()) throw Unsupported(file_ + " is not installed, or cannot be loaded");
  void* const address = find(function);
  if (address == nullptr) throw Unsupported(file_ + " has no function " + function);
  return address;
}

void SharedLibrary::unload() {
  if (loaded()) dlclose(handle_);
  handle_ = nullptr;
}

}  // namespace ridgebench
