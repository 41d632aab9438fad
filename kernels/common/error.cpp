#include "kernels/common/error.hpp"

#include <fmt/format.h>

namespace ridgebench {

Unsupported::Unsupported(const char* reason) : std::runtime_error(reason) {}

Unsupported::Unsupported(const std::string& reason) : std::runtime_error(reason) {}

OutOfMemory::OutOfMemory(double asked, double free, const char* of)
    : std::runtime_error(
          fmt::format("needs {:.0f} bytes of {}, {:.0f} bytes are free", asked, of, free)) {}

}  // namespace ridgebench
