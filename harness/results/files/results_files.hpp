// The files of results: a folder has one of them, which says what it holds.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>

namespace ridgebench {

inline constexpr std::string_view kRecordsFile = "records.jsonl";
inline constexpr std::string_view kDuelsFile = "duels.jsonl";
inline constexpr std::string_view kStepFile = "step.jsonl";
inline constexpr std::string_view kSoakFile = "soak.jsonl";

// Describes a run or a soak over all GPUs of a node, which has a results folder for each.
inline constexpr std::string_view kNodeFile = "node.json";

// The standard error of a process that measured one GPU of a node, in the folder of that GPU.
inline constexpr std::string_view kLogFile = "log.txt";

struct ResultsFile {
  std::string_view name;
  std::string_view holds;
};
inline constexpr std::array kResultsFiles{
    ResultsFile{kRecordsFile, "a run"}, ResultsFile{kDuelsFile, "duels"},
    ResultsFile{kStepFile, "a step"}, ResultsFile{kSoakFile, "a soak"}};

// Throws UsageError if the folder holds duels, a step or a soak, and no run.
void require_run(const std::filesystem::path& directory);

}  // namespace ridgebench
