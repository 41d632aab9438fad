// SHA256SUMS of a folder: the checksums of its files, in the format of sha256sum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ridgebench {

inline constexpr const char* kSumsFile = "SHA256SUMS";

// Writes the checksums of these files, named from the folder. Throws StorageError, and UsageError
// for a file that cannot be read.
void write_sums(const std::filesystem::path& folder, std::span<const std::string> files);

// One line for each file that SHA256SUMS lists and that is missing or changed, and for each of
// `files` that it does not list. Throws UsageError for a file that cannot be read.
std::vector<std::string> sums_problems(const std::filesystem::path& folder,
                                       std::span<const std::string> files);

// The files of a results folder that SHA256SUMS lists.
std::vector<std::string> checked_files(const std::filesystem::path& directory);

// How a folder was left: whole, or open by a process that did not end by itself. An open one may
// lack SHA256SUMS, rows and the end of the last line.
enum class Ending : std::uint8_t { whole, open };

// sums_problems() of a results folder. Only an open one may lack SHA256SUMS.
std::vector<std::string> checksum_problems(const std::filesystem::path& directory,
                                           Ending ending = Ending::whole);

}  // namespace ridgebench
