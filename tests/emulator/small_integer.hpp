// Operands whose products are exact.
#pragma once

namespace ridgebench::emulator {

// Element i of a sequence from -2 to 2 with no pattern that a wrong index could repeat.
inline int small_integer(int i) { return static_cast<int>((i * 2654435761U >> 13U) % 5) - 2; }

}  // namespace ridgebench::emulator
