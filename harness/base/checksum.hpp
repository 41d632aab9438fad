// SHA-256, in lower-case hexadecimal.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ridgebench {

std::string sha256(std::string_view text);
// Throws UsageError if the file cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace ridgebench
