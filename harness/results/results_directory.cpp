#include "harness/results/results_directory.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>

#include "harness/base/checksum.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

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

}  // namespace

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  const std::string temporary = path.string() + ".tmp";
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) throw StorageError(fmt::format("cannot write {}: {}", temporary, last_error()));
  try {
    write_all(file, text, temporary);
    if (fsync(file) != 0)
      throw StorageError(fmt::format("cannot flush {}: {}", temporary, last_error()));
  } catch (...) {
    close(file);
    unlink(temporary.c_str());
    throw;
  }
  close(file);
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    throw StorageError(fmt::format("cannot replace {}: {}", path.string(), last_error()));
  }
}

ResultsDirectory::ResultsDirectory(std::filesystem::path path, bool resume)
    : path_(std::move(path)) {
  std::error_code error;
  std::error_code ignored;
  std::filesystem::create_directories(path_, error);
  const std::filesystem::path records = path_ / "records.jsonl";
  // A run that was killed before its environment was written holds nothing.
  const bool abandoned = !std::filesystem::exists(path_ / "environment.json", ignored) &&
                         std::filesystem::file_size(records, ignored) == 0;
  const int exclusive = resume || abandoned ? 0 : O_EXCL;
  if (!error) {
    records_ = open(records.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | exclusive, 0644);
  }
  if (records_ < 0 && errno == EEXIST && !error) {
    throw UsageError(
        fmt::format("{} already holds a run; allowed: an empty or new folder, or --resume {}",
                    path_.string(), path_.string()));
  }
  if (records_ < 0 || ftruncate(records_, whole_lines(records)) != 0) {
    throw UsageError(
        fmt::format("cannot write results to {}: {}; allowed: a folder that can be written to",
                    path_.string(), error ? error.message() : last_error()));
  }
}

ResultsDirectory::~ResultsDirectory() { close(records_); }

void ResultsDirectory::append(const Record& record) {
  const std::string line = to_json(record).dump() + "\n";
  const std::scoped_lock lock(mutex_);
  const off_t before = lseek(records_, 0, SEEK_END);
  try {
    write_all(records_, line, (path_ / "records.jsonl").string());
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

std::filesystem::path default_results_path() {
  const std::string now = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::time(nullptr)));
  const std::filesystem::path parent = "results/local";
  std::filesystem::path path = parent / now;
  for (int n = 2; std::filesystem::exists(path); ++n) path = parent / fmt::format("{}-{}", now, n);
  return path;
}

void point_latest_at(const std::filesystem::path& run) {
  const std::filesystem::path parent =
      std::filesystem::absolute(run).lexically_normal().parent_path();
  if (parent.filename() != "local" || parent.parent_path().filename() != "results") return;
  std::error_code ignored;  // a convenience: a run does not fail for it
  const std::filesystem::path fresh = parent / "latest.tmp";
  std::filesystem::remove(fresh, ignored);
  std::filesystem::create_directory_symlink(run.filename(), fresh, ignored);
  std::filesystem::rename(fresh, parent / "latest", ignored);
}

}  // namespace ridgebench
