#include "kernels/common/isa_level.hpp"

#include <array>

namespace ridgebench {

std::string_view name(Isa isa) {
  constexpr std::array<std::string_view, 4> names{"", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  return names[static_cast<std::size_t>(isa)];
}

Isa host_isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return Isa::v4;
  if (__builtin_cpu_supports("x86-64-v3")) return Isa::v3;
#endif
  return Isa::v2;
}

}  // namespace ridgebench
