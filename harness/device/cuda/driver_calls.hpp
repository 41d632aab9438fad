// Functions of the CUDA driver's library, by their names. Source of the functions, their types and
// numbers: CUDA Driver API reference.
#pragma once

#include <string>

#include "kernels/common/shared_library.hpp"

namespace ridgebench {

inline constexpr const char* kDriverLibrary = "libcuda.so.1";

class DriverLibrary {
 public:
  [[nodiscard]] bool loaded() const { return library_.loaded(); }

  // Returns the CUresult; CUDA_ERROR_NOT_FOUND if an older library lacks the function.
  template <class... Arguments>
  int call(const char* function, Arguments... arguments) const {
    constexpr int kNotFound = 500;
    void* const address = library_.find(function);
    if (address == nullptr) return kNotFound;
    return reinterpret_cast<int (*)(Arguments...)>(address)(arguments...);
  }

  // "CUDA_ERROR_NOT_SUPPORTED"; empty if the library does not name it.
  [[nodiscard]] std::string name_of(int status) const {
    const char* text = nullptr;
    if (call("cuGetErrorName", status, &text) != 0 || text == nullptr) return {};
    return text;
  }

 private:
  SharedLibrary library_{kDriverLibrary};
};

}  // namespace ridgebench
