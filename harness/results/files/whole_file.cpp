#include "harness/results/files/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "harness/base/process.hpp"

namespace ridgebench {
namespace {

// Opens a temporary file next to `path` that did not exist before; a link under its name is an
// error. Throws StorageError.
int open_temporary(std::string& name, const std::string& path) {
  int file = -1;
  do {
    name = temporary_name(path);
    file = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) throw StorageError(fmt::format("cannot write {}: {}", name, last_error()));
  return file;
}

// True if a new file may take the place of what the path names.
bool can_be_replaced(const std::filesystem::path& path) {
  struct stat named{};
  if (lstat(path.c_str(), &named) != 0) return true;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  return S_ISREG(named.st_mode) && access(folder.c_str(), W_OK | X_OK) == 0;
}

void write_in_place(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  const bool written = file >= 0 && write_all(file, text);
  const std::string why = last_error();
  if (file >= 0) close(file);
  if (!written) throw StorageError(fmt::format("cannot write {}: {}", path, why));
}

}  // namespace

std::string last_error() { return std::strerror(errno); }

std::string temporary_name(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.{:08x}{:08x}{}", path, random(), random(), kTemporary);
}

void write_or_throw(int file, std::string_view text, const std::string& path) {
  if (!write_all(file, text)) {
    throw StorageError(fmt::format("cannot write {}: {}", path, last_error()));
  }
}

int replace_file(const std::string& path, std::string_view text,
                 const std::function<void(int)>& before_rename) {
  std::string name;
  const int file = open_temporary(name, path);
  try {
    write_or_throw(file, text, name);
    if (!flush(file)) throw StorageError(fmt::format("cannot flush {}: {}", name, last_error()));
    before_rename(file);
    if (rename(name.c_str(), path.c_str()) != 0) {
      throw StorageError(fmt::format("cannot replace {}: {}", path, last_error()));
    }
  } catch (...) {
    close(file);
    unlink(name.c_str());
    throw;
  }
  return file;
}

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  close(replace_file(path.string(), text, [](int) {}));
}

void write_named(const std::filesystem::path& path, std::string_view text) {
  can_be_replaced(path) ? write_atomically(path, text) : write_in_place(path.string(), text);
}

}  // namespace ridgebench
