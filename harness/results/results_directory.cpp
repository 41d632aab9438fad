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
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include "harness/base/process.hpp"
#include "harness/results/files/whole_file.hpp"
#include "harness/results/judged/judged.hpp"
#include "harness/results/verify/checksums.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

// Every file that write_atomically() and drop() write in a results folder.
constexpr std::array<std::string_view, 8> kWritten{
    "environment.json", kRecordsFile,     kDuelsFile,  kStepFile,
    kSoakFile,          "benchmark.json", kJudgedFile, kSumsFile};

// Length of the file up to and including its last newline. Throws UsageError if it cannot be read.
off_t whole_lines(const std::filesystem::path& path) {
  const std::string text = read_file(path.string());
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? 0 : static_cast<off_t>(newline + 1);
}

// True if the path still names the open file: another process may have replaced it.
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

// Opens and locks the records. Returns the descriptor and whether there is a lock. Throws
// UsageError.
std::pair<int, bool> open_records(const std::filesystem::path& folder,
                                  const std::filesystem::path& records) {
  // O_NONBLOCK: a FIFO in place of the file must not stop the process.
  const int file = open(records.c_str(),
                        O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  const std::string name = records.filename().string();
  if (file < 0) refuse(folder, errno == ELOOP ? name + " is a link" : last_error());
  if (!is_regular(file)) {
    close(file);
    refuse(folder, name + " is not a regular file");
  }
  const std::optional<bool> locked = lock_file(file);
  if (!locked || !is_still(records, file)) {
    close(file);
    refuse_second_run(folder);
  }
  return {file, *locked};
}

}  // namespace

std::optional<bool> lock_file(int file) {
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    if (errno != EINTR) return false;
  }
  return true;
}

void refuse_second_run(const std::filesystem::path& folder) {
  throw UsageError(
      fmt::format("{} is in use by another run; allowed: wait until it ends, or another folder",
                  folder.string()));
}

ResultsDirectory::ResultsDirectory(std::filesystem::path path, bool resume, std::string_view file)
    : given_(std::move(path)), path_(std::filesystem::absolute(given_)), file_(file) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) refuse(given_, error.message());
  for (const ResultsFile& other : kResultsFiles) {
    if (other.name == file_ || !exists(path_ / other.name, error)) continue;
    throw UsageError(
        fmt::format("{} holds {}; allowed: a new folder", given_.string(), other.name));
  }
  const std::filesystem::path records = path_ / file_;
  const bool described = exists(path_ / "environment.json", error);
  const auto refuse_the_run = [&] {
    const auto* const own = std::ranges::find(kResultsFiles, file_, &ResultsFile::name);
    throw UsageError(fmt::format("{} already holds {}; allowed: a folder without results{}",
                                 given_.string(), own->holds,
                                 file_ == kRecordsFile ? ", or --resume " + given_.string() : ""));
  };
  if (!resume && described && !exists(records, error)) refuse_the_run();
  std::tie(records_, locked_) = open_records(given_, records);
  // A run that was killed before its environment was written holds nothing.
  if (!resume && (described || file_size(records, error) > 0)) {
    close(records_);
    refuse_the_run();
  }
  if (ftruncate(records_, whole_lines(records)) != 0) refuse(given_, last_error());
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
  const int file =
      replace_file(path, kept, [](int opened) { static_cast<void>(lock_file(opened)); });
  close(std::exchange(records_, file));
}

void ResultsDirectory::append(const nlohmann::ordered_json& result) {
  const std::string line = json_line(result) + "\n";
  const std::scoped_lock lock(mutex_);
  const off_t before = lseek(records_, 0, SEEK_END);
  try {
    write_or_throw(records_, line, (path_ / file_).string());
  } catch (...) {
    if (ftruncate(records_, before) != 0) throw;  // readers drop an unfinished line anyway
    throw;
  }
  if (!flush(records_)) {
    throw StorageError(fmt::format("cannot flush {}: {}", path_.string(), last_error()));
  }
}

void ResultsDirectory::write_environment(const nlohmann::ordered_json& environment) const {
  // Names and arguments of this system need not be UTF-8, JSON must be.
  write_atomically(path_ / "environment.json", json_lines(environment, 2) + "\n");
}

void ResultsDirectory::write_judgement() const {
  write_atomically(path_ / kJudgedFile, judged_text(path_.string()));
}

void ResultsDirectory::write_checksums() const { write_sums(path_, checked_files(path_)); }

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
