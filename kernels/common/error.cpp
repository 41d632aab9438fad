#include "kernels/common/error.hpp"

#include <fmt/format.h>

namespace ridgebench {

Unsupported::Unsupported(const char* reason) : std::runtime_error(reason) {}

Unsupported::Unsupported(const std::string& reason) : std::runtime_error(reason) {}

OutOfMemory::OutOfMemory(double asked, double free)
    : std::runtime_error(
          fmt::format("needs {:.0f} bytes of device memory, {:.0f} bytes are free", asked, free)) {}

}  // namespace ridgebench
