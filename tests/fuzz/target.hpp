// What libFuzzer, or the replay of its corpus, calls with every input.
#pragma once

#include <cstddef>
#include <cstdint>

// How many inputs a reader took. A corpus whose files are all refused is no start of a search.
inline int g_inputs_read = 0;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
