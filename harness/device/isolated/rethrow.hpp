// Exceptions of a file's code, which pass from its process to this one.
#pragma once

#include <nlohmann/json.hpp>

namespace ridgebench {

// The exception that is being handled.
nlohmann::json describe_exception();
// Throws it again: Unsupported, UsageError, OutOfMemory, std::bad_alloc and DeviceError as such,
// all else as std::runtime_error with the same text.
[[noreturn]] void rethrow(const nlohmann::json& described);

}  // namespace ridgebench
