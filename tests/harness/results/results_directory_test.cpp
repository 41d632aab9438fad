#include "harness/results/results_directory.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <regex>
#include <set>

#include "harness/base/checksum.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Limits the size of every file of this process, as a full disk does.
void limit_file_size(std::size_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) std::_Exit(100);
}

class ResultsDirectoryTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path run() const { return folder_ / "run"; }
  [[nodiscard]] std::string records() const { return text_of(run() / "records.jsonl"); }

  TemporaryDirectory folder_;
  std::string line_ = to_json(sample_record()).dump() + "\n";
};

TEST_F(ResultsDirectoryTest, EachRecordIsALineOnTheDiskAsSoonAsItIsAppended) {
  ResultsDirectory directory(run() / "a" / "b", false);  // creates the parents too
  const auto file = run() / "a" / "b" / "records.jsonl";
  EXPECT_EQ(text_of(file), "");
  directory.append(sample_record());
  EXPECT_EQ(text_of(file), line_);
  directory.append(sample_record());
  EXPECT_EQ(text_of(file), line_ + line_);
}

TEST_F(ResultsDirectoryTest, AFolderThatHoldsARunIsRefused) {
  {
    ResultsDirectory(run(), false).append(sample_record());
  }
  EXPECT_THAT([&] { ResultsDirectory(run(), false); },
              ThrowsMessage<UsageError>(HasSubstr("already holds a run")));
  EXPECT_EQ(records(), line_);
}

TEST_F(ResultsDirectoryTest, AFolderHasOneRunAtATime) {
  std::optional<ResultsDirectory> first(std::in_place, run(), false);
  for (const bool resume : {false, true}) {
    EXPECT_THAT([&] { ResultsDirectory(run(), resume); },
                ThrowsMessage<UsageError>(HasSubstr("is in use by another run")));
  }
  first->append(sample_record());
  first.reset();
  ResultsDirectory(run(), true).append(sample_record());
  EXPECT_EQ(records(), line_ + line_);
}

TEST_F(ResultsDirectoryTest, DroppedRowsLeaveTheOthersAsTheyWereAndTheLockInPlace) {
  std::filesystem::create_directory(run());
  const auto row = [](Status status) {
    Record record = skipped_record("relu/x@cpu");
    record.status = status;
    return to_json(record).dump() + "\n";
  };
  const std::string spaced = " " + line_;  // the same JSON
  const std::string dropped = row(Status::failed) + row(Status::suspect);
  write_text(run() / "records.jsonl", spaced + dropped + line_);
  ResultsDirectory directory(run(), true);
  directory.drop({Status::failed, Status::suspect});
  EXPECT_EQ(records(), spaced + line_);
  EXPECT_THROW(ResultsDirectory(run(), true), UsageError);
  directory.append(sample_record());
  EXPECT_EQ(records(), spaced + line_ + line_);
}

TEST_F(ResultsDirectoryTest, NothingIsWrittenThroughALink) {
  const auto victim = folder_ / "victim";
  write_text(victim, "mine");
  std::filesystem::create_directory(run());
  std::filesystem::create_symlink(victim, run() / "environment.json.tmp");
  std::filesystem::create_symlink(victim, run() / "environment.json");
  write_atomically(run() / "environment.json", "ours");
  EXPECT_EQ(text_of(victim), "mine");
  EXPECT_EQ(text_of(run() / "environment.json"), "ours");
  std::filesystem::create_symlink(victim, run() / "records.jsonl");
  EXPECT_THAT([&] { ResultsDirectory(run(), true); },
              ThrowsMessage<UsageError>(HasSubstr("records.jsonl is a link")));
}

TEST_F(ResultsDirectoryTest, TemporaryFilesOfAKilledRunGo) {
  std::filesystem::create_directory(run());
  write_text(run() / "environment.json.0123456789abcdef.tmp", "half");
  write_text(run() / "mine.tmp", "mine");
  const ResultsDirectory directory(run(), true);
  EXPECT_FALSE(std::filesystem::exists(run() / "environment.json.0123456789abcdef.tmp"));
  EXPECT_EQ(text_of(run() / "mine.tmp"), "mine");
}

TEST_F(ResultsDirectoryTest, AFolderWithOtherFilesIsUsed) {
  std::filesystem::create_directory(run());
  write_text(run() / "notes.txt", "mine");
  ResultsDirectory(run(), false).append(sample_record());
  EXPECT_EQ(text_of(run() / "notes.txt"), "mine");
}

TEST_F(ResultsDirectoryTest, ResumingCutsAHalfWrittenLineAndAppends) {
  std::filesystem::create_directory(run());
  for (const std::size_t half : {std::size_t{0}, std::size_t{1}, line_.size() - 1}) {
    write_text(run() / "records.jsonl", line_ + line_.substr(0, half));
    ResultsDirectory directory(run(), true);
    EXPECT_EQ(records(), line_);
    directory.append(sample_record());
    EXPECT_EQ(records(), line_ + line_);
  }
}

TEST_F(ResultsDirectoryTest, ResumingAFileWithoutAWholeLineStartsAnew) {
  std::filesystem::create_directory(run());
  write_text(run() / "records.jsonl", line_.substr(0, 50));
  const ResultsDirectory directory(run(), true);
  EXPECT_EQ(records(), "");
}

TEST_F(ResultsDirectoryTest, AFolderThatCannotBeWrittenToIsAUsageError) {
  write_text(folder_ / "file", "");
  EXPECT_THAT([&] { ResultsDirectory(folder_ / "file", false); },
              ThrowsMessage<UsageError>(HasSubstr("cannot write results to")));
  EXPECT_THAT([&] { ResultsDirectory(folder_ / "file" / "run", false); },
              ThrowsMessage<UsageError>(HasSubstr("cannot write results to")));
}

TEST_F(ResultsDirectoryTest, AFullDiskCostsNoFinishedRowAndLeavesNoHalfLine) {
  const auto fill = [&] {
    ResultsDirectory directory(run(), false);
    limit_file_size(line_.size() * 5 / 2);
    directory.append(sample_record());
    directory.append(sample_record());
    try {
      directory.append(sample_record());
    } catch (const StorageError& error) {
      std::_Exit(std::string(error.what()).find("records.jsonl") == std::string::npos ? 1 : 3);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(fill(), ExitedWithCode(3), "");
  EXPECT_EQ(records(), line_ + line_);
}

TEST_F(ResultsDirectoryTest, WritesAWholeFileInPlaceOfTheOldOne) {
  const auto file = folder_ / "environment.json";
  write_atomically(file, "old and long");
  write_atomically(file, "new");
  EXPECT_EQ(text_of(file), "new");
}

TEST_F(ResultsDirectoryTest, AWriteThatFailsLeavesTheOldFileAndNothingElse) {
  const auto file = folder_ / "environment.json";
  write_atomically(file, "old");
  const auto fill = [&] {
    limit_file_size(100);
    try {
      write_atomically(file, std::string(1000, 'x'));
    } catch (const StorageError&) {
      std::_Exit(3);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(fill(), ExitedWithCode(3), "");
  EXPECT_EQ(text_of(file), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
  EXPECT_THROW(write_atomically(folder_ / "no" / "such" / "folder", "x"), StorageError);
}

TEST_F(ResultsDirectoryTest, ChecksumsCoverTheFilesThatAreThere) {
  ResultsDirectory directory(run(), false);
  directory.append(sample_record());
  directory.write_environment({{"schema", "x"}});
  directory.write_checksums();
  EXPECT_EQ(text_of(run() / "SHA256SUMS"),
            sha256_of_file(run() / "environment.json") + "  environment.json\n" +
                sha256_of_file(run() / "records.jsonl") + "  records.jsonl\n");
}

TEST_F(ResultsDirectoryTest, LatestPointsAtTheNewestRunOfTheLocalFolder) {
  for (const char* name : {"first", "second"}) {
    const auto path = folder_ / "results" / "local" / name;
    std::filesystem::create_directories(path);
    point_latest_at(path);
    EXPECT_EQ(std::filesystem::read_symlink(folder_ / "results" / "local" / "latest"), name);
    point_latest_at(folder_ / "results" / "local" / "latest");  // as a resumed run may be named
    EXPECT_EQ(std::filesystem::read_symlink(folder_ / "results" / "local" / "latest"), name);
  }
  std::filesystem::create_directory(run());
  EXPECT_FALSE(point_latest_at(run()));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "latest")) << "a folder of the user's choice";
}

TEST_F(ResultsDirectoryTest, ALatestThatIsAFolderStaysAndIsReported) {
  const auto local = folder_ / "results" / "local";
  std::filesystem::create_directories(local / "latest" / "old");
  std::filesystem::create_directories(local / "new");
  EXPECT_TRUE(point_latest_at(local / "new"));
  EXPECT_TRUE(std::filesystem::exists(local / "latest" / "old"));
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(local)) {
    names.insert(entry.path().filename());
  }
  EXPECT_EQ(names, (std::set<std::string>{"latest", "new"})) << "no temporary link stays";
}

TEST_F(ResultsDirectoryTest, EachRunHasADefaultFolderOfItsOwn) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  std::set<std::string> folders;
  for (int i = 0; i < 20; ++i) folders.insert(create_default_folder().string());
  std::filesystem::current_path(before);
  EXPECT_EQ(folders.size(), 20U);
  for (const std::string& folder : folders) {
    EXPECT_TRUE(std::regex_match(folder, std::regex("results/local/[0-9]{8}T[0-9]{6}Z(-[0-9]+)?")));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / folder));
  }
}

}  // namespace
}  // namespace ridgebench
