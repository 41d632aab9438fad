// Files that are written whole, or not at all, whatever ends this process.
#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ridgebench {

// The disk is full or the folder is gone. What was written before stays valid.
class StorageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The functions below throw StorageError.

// Writes a whole file or leaves the old one: temporary file, fsync, rename. The temporary file is a
// new one with a random name.
void write_atomically(const std::filesystem::path& path, std::string_view text);

// The same for a file that the user named. A link, and a device such as /dev/stdout, is written in
// place, and so is a file whose folder takes no new one.
void write_named(const std::filesystem::path& path, std::string_view text);

// The same, and lets `before_rename` see the descriptor of the new file. Returns the descriptor.
int replace_file(const std::string& path, std::string_view text,
                 const std::function<void(int)>& before_rename);

// Appends to an open file. `path` is for the message.
void write_or_throw(int file, std::string_view text, const std::string& path);

// The extension of temporary files.
inline constexpr const char* kTemporary = ".tmp";
// Names a temporary file next to `path`. The random part keeps two processes apart.
std::string temporary_name(const std::string& path);
// The text of errno.
std::string last_error();

}  // namespace ridgebench
