#include "harness/results/results_directory.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <sstream>
#include <utility>

#include "harness/base/checksum.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

constexpr const char* kTemporary = ".tmp";
// Every file that write_atomically() and drop() write in a results folder.
constexpr std::array<std::string_view, 5> kWritten{"environment.json", "records.jsonl",
                                                   "duels.jsonl", "benchmark.json", "SHA256SUMS"};

std::string last_error() { return std::strerror(errno); }

// Writes everything or throws with errno's text.
void write_all(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw StorageError(fmt::format("cannot write {}: {}", path, last_error()));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Length of the file up to and including its last newline. Throws UsageError if it cannot be read.
off_t whole_lines(const std::filesystem::path& path) {
  const std::string text = read_file(path.string());
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? 0 : static_cast<off_t>(newline + 1);
}

// Names the temporary file next to `path`. The random part keeps two processes apart.
std::string temporary_name(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.{:08x}{:08x}{}", path, random(), random(), kTemporary);
}

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

// Writes a temporary file, lets `before_rename` see its descriptor, and renames it to `path`.
// Returns the open descriptor.
int replace_file(const std::string& path, std::string_view text,
                 const std::function<void(int)>& before_rename) {
  std::string name;
  const int file = open_temporary(name, path);
  try {
    write_all(file, text, name);
    if (fsync(file) != 0)
      throw StorageError(fmt::format("cannot flush {}: {}", name, last_error()));
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

// Tries to lock the file for this process. Returns false if another process holds it. On a file
// system without locks it returns true.
bool lock(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

// Whether the path still names the open file: another process may have replaced it.
bool is_still(const std::filesystem::path& path, int file) {
  struct stat opened{};
  struct stat named{};
  return fstat(file, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool is_regular(int file) {
  struct stat status{};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

// Removes the temporary files of a process that was killed. The caller holds the folder's lock.
void remove_temporaries(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::filesystem::path& file = entry.path();
    const std::string written = file.stem().stem().string();
    const bool ours =
        file.extension() == kTemporary && std::ranges::find(kWritten, written) != kWritten.end();
    if (ours) std::filesystem::remove(file, ignored);
  }
}

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& reason) {
  throw UsageError(
      fmt::format("cannot write results to {}: {}; allowed: a folder that can be written to",
                  folder.string(), reason));
}

// Opens and locks the records. Throws UsageError.
int open_records(const std::filesystem::path& folder, const std::filesystem::path& records) {
  // O_NONBLOCK: a FIFO in place of the file must not stop the process.
  const int file = open(records.c_str(),
                        O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  const std::string name = records.filename().string();
  if (file < 0) refuse(folder, errno == ELOOP ? name + " is a link" : last_error());
  if (!is_regular(file)) {
    close(file);
    refuse(folder, name + " is no regular file");
  }
  if (!lock(file) || !is_still(records, file)) {
    close(file);
    throw UsageError(
        fmt::format("{} is in use by another run; allowed: wait until it ends, or another folder",
                    folder.string()));
  }
  return file;
}

}  // namespace

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  close(replace_file(path.string(), text, [](int) {}));
}

ResultsDirectory::ResultsDirectory(std::filesystem::path path, bool resume, std::string_view file)
    : path_(std::move(path)), file_(file) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) refuse(path_, error.message());
  const bool is_run = file_ == kRecordsFile;
  if (const auto other = is_run ? kDuelsFile : kRecordsFile; exists(path_ / other, error)) {
    throw UsageError(fmt::format("{} holds {}; allowed: a new folder", path_.string(), other));
  }
  const std::filesystem::path records = path_ / file_;
  const bool described = exists(path_ / "environment.json", error);
  const auto refuse_the_run = [&] {
    throw UsageError(fmt::format("{} already holds {}; allowed: a folder without results{}",
                                 path_.string(), is_run ? "a run" : "duels",
                                 is_run ? ", or --resume " + path_.string() : ""));
  };
  if (!resume && described && !exists(records, error)) refuse_the_run();
  records_ = open_records(path_, records);
  // A run that was killed before its environment was written holds nothing.
  if (!resume && (described || file_size(records, error) > 0)) {
    close(records_);
    refuse_the_run();
  }
  if (ftruncate(records_, whole_lines(records)) != 0) refuse(path_, last_error());
  remove_temporaries(path_);
}

ResultsDirectory::~ResultsDirectory() { close(records_); }

void ResultsDirectory::drop(std::initializer_list<Status> statuses) {
  const std::string path = (path_ / file_).string();
  std::istringstream lines(read_file(path));
  std::string kept;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const Record record = parse_record(line, fmt::format("{}:{}", path, ++number));
    if (std::ranges::find(statuses, record.status) == statuses.end()) kept += line + "\n";
  }
  // The new file has its lock before it has its name: no other process gets in between.
  const int file = replace_file(path, kept, [](int opened) { static_cast<void>(lock(opened)); });
  close(std::exchange(records_, file));
}

void ResultsDirectory::append(const nlohmann::ordered_json& result) {
  const std::string line = result.dump() + "\n";
  const std::scoped_lock lock(mutex_);
  const off_t before = lseek(records_, 0, SEEK_END);
  try {
    write_all(records_, line, (path_ / file_).string());
  } catch (...) {
    if (ftruncate(records_, before) != 0) throw;  // readers drop an unfinished line anyway
    throw;
  }
  if (fdatasync(records_) != 0) {
    throw StorageError(fmt::format("cannot flush {}: {}", path_.string(), last_error()));
  }
}

void ResultsDirectory::write_environment(const nlohmann::ordered_json& environment) const {
  // Names and arguments of this system need not be UTF-8, JSON must be.
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  write_atomically(path_ / "environment.json", environment.dump(2, ' ', false, replace) + "\n");
}

void ResultsDirectory::write_checksums() const {
  std::string sums;
  for (const char* name : kChecked) {
    if (!std::filesystem::exists(path_ / name)) continue;
    sums += fmt::format("{}  {}\n", sha256_of_file(path_ / name), name);
  }
  write_atomically(path_ / "SHA256SUMS", sums);
}

std::filesystem::path create_default_folder() {
  const std::string now = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::time(nullptr)));
  const std::filesystem::path parent = "results/local";
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  std::filesystem::path path = parent / now;
  for (int n = 2; !error && !std::filesystem::create_directory(path, error); ++n) {
    path = parent / fmt::format("{}-{}", now, n);
  }
  if (error) refuse(path, error.message());
  return path;
}

std::error_code point_latest_at(const std::filesystem::path& run) {
  std::error_code error;
  const std::filesystem::path folder = canonical(run, error);  // a resumed run may be named latest
  const std::filesystem::path parent = folder.parent_path();
  if (parent.filename() != "local" || parent.parent_path().filename() != "results") return {};
  const std::filesystem::path fresh = temporary_name((parent / "latest").string());
  std::filesystem::create_directory_symlink(folder.filename(), fresh, error);
  if (!error) std::filesystem::rename(fresh, parent / "latest", error);
  if (std::error_code ignored; error) std::filesystem::remove(fresh, ignored);
  return error;
}

}  // namespace ridgebench
