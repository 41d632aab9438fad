// Writes a results directory so that a kill, a crash or a full disk never costs a finished row.
#pragma once

#include <array>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "harness/results/files/results_files.hpp"
#include "harness/results/files/whole_file.hpp"
#include "harness/results/record.hpp"

namespace ridgebench {

// Tries to lock an open file or folder until this process ends. Returns empty if another process
// holds it, and false on a file system without locks.
std::optional<bool> lock_file(int file);

// Throws UsageError: another process holds the lock of the folder.
[[noreturn]] void refuse_second_run(const std::filesystem::path& folder);

class ResultsDirectory {
 public:
  // Creates the folder (with parents) or, for a resumed run, cuts a half-written last line off the
  // file of results. The process locks that file until it ends, so that a folder has one run at a
  // time. Throws UsageError if another process has the lock, if a new run finds an earlier one, if
  // the folder has another file of results, or if it cannot be written to. A folder that is
  // refused stays as it was.
  ResultsDirectory(std::filesystem::path path, bool resume, std::string_view file = kRecordsFile);
  ResultsDirectory(const ResultsDirectory&) = delete;  // owns a file descriptor
  ResultsDirectory& operator=(const ResultsDirectory&) = delete;
  ~ResultsDirectory();

  // Absolute: a kernel of a user may change the current folder.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // As the user named it.
  [[nodiscard]] const std::filesystem::path& given() const { return given_; }
  // False on a file system without locks, where another run may write into the folder, too.
  [[nodiscard]] bool is_locked() const { return locked_; }
  // The descriptor of the file of results, for a signal handler that appends a line.
  [[nodiscard]] int records_file() const { return records_; }

  // Removes the rows with these statuses, so that the run measures them again. The others keep
  // their bytes. Throws StorageError.
  void drop(std::initializer_list<Status> statuses);

  // Appends one line and flushes it to the disk; a line is there as a whole or not at all. May be
  // called from the watchdog's thread too. Throws StorageError.
  void append(const nlohmann::ordered_json& result);
  void append(const Record& record) { append(to_json(record)); }

  // Writes environment.json, whole or not at all. Throws StorageError.
  void write_environment(const nlohmann::ordered_json& environment) const;

  // Writes judged.json, the judgement of the rows. Throws StorageError.
  void write_judgement() const;

  // Writes SHA256SUMS over the files of the run, in the format of sha256sum. Throws StorageError.
  void write_checksums() const;

 private:
  std::filesystem::path given_;
  std::filesystem::path path_;
  std::string_view file_;
  std::mutex mutex_;
  int records_ = -1;
  bool locked_ = false;
};

// The files that SHA256SUMS lists, as far as they exist.
inline constexpr std::array kChecked{"environment.json", "records.jsonl", "duels.jsonl",
                                     "step.jsonl",       "soak.jsonl",    "benchmark.json",
                                     "judged.json"};

// Creates `results/local/<UTC time>`, with -2, -3... where a run began in the same second. No other
// process gets the same folder. Throws UsageError.
std::filesystem::path create_default_folder();
// Links results/local/latest to a run that lies in results/local. Returns why it cannot: a run does
// not fail for a convenience.
std::error_code point_latest_at(const std::filesystem::path& run);

}  // namespace ridgebench
