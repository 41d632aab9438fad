// Every published run is readable and sound, also if the project had another name then.
#include <gmock/gmock.h>

#include <filesystem>

#include "harness/results/files/resume.hpp"
#include "harness/results/record.hpp"
#include "harness/results/verify/verify_results.hpp"

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> published_runs() {
  std::vector<fs::path> runs;
  const fs::path results = fs::path(RIDGEBENCH_SOURCE_DIR) / "results";
  for (const auto& entry : fs::recursive_directory_iterator(results)) {
    const fs::path folder = entry.path().parent_path();
    const bool local = folder.string().find("/local/") != std::string::npos;
    if (entry.path().filename() == "records.jsonl" && !local) runs.push_back(folder);
  }
  return runs;
}

TEST(PublishedResults, AreReadAndSound) {
  const std::vector<fs::path> runs = published_runs();
  ASSERT_FALSE(runs.empty());
  for (const fs::path& run : runs) {
    SCOPED_TRACE(run.string());
    EXPECT_FALSE(read_records(run.string()).empty());
    EXPECT_NO_THROW(static_cast<void>(read_request(run.string())));
    // What a run that was stopped wrote is as sound as it can be.
    const bool partial = run.string().find("/partial/") != std::string::npos;
    std::vector<std::string> faults = verify_results(run);
    if (partial) std::erase(faults, "SHA256SUMS is missing: the run did not finish; --resume can");
    EXPECT_THAT(faults, ::testing::IsEmpty());
  }
}

}  // namespace
}  // namespace ridgebench
