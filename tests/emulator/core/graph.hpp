// CUDA graphs: while a stream is captured, launches are recorded instead of run.
#pragma once

#include <functional>
#include <vector>

namespace ridgebench::emulator {

using Launches = std::vector<std::function<void()>>;

// Where launches are recorded; null: they run.
Launches*& captured_launches();

}  // namespace ridgebench::emulator
