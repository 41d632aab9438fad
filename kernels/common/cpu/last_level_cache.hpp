// Size of the host's last-level cache, for techniques that choose by it.
#pragma once

#include <cstdint>

namespace ridgebench::cpu {

// Bytes of one instance, asked once; what Machine assumes where the system does not say.
std::int64_t last_level_cache_bytes();

}  // namespace ridgebench::cpu
