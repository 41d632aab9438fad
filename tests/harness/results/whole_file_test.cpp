#include "harness/results/files/whole_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "roofline/json_object.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

class WholeFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string text_of(const char* name) const {
    return read_file((directory_.path() / name).string());
  }
  [[nodiscard]] auto entries() const {
    return std::distance(std::filesystem::directory_iterator(directory_.path()), {});
  }

  TemporaryDirectory directory_;
};

TEST_F(WholeFileTest, ReplacesAFileAndLeavesNoOther) {
  write_named(directory_.path() / "x.xml", "old");
  write_named(directory_.path() / "x.xml", "new");
  EXPECT_EQ(text_of("x.xml"), "new");
  EXPECT_EQ(entries(), 1);
}

TEST_F(WholeFileTest, WritesThroughALinkThatTheUserNamed) {
  write_atomically(directory_.path() / "target", "old");
  std::filesystem::create_symlink("target", directory_.path() / "link");
  write_named(directory_.path() / "link", "through");
  EXPECT_EQ(text_of("target"), "through");
  EXPECT_TRUE(std::filesystem::is_symlink(directory_.path() / "link"));
  write_atomically(directory_.path() / "link", "in its place");
  EXPECT_EQ(text_of("target"), "through");
  EXPECT_FALSE(std::filesystem::is_symlink(directory_.path() / "link"));
}

TEST_F(WholeFileTest, WritesADeviceInPlace) {
  write_named("/dev/null", "gone");
  EXPECT_THROW(write_named("/dev/full", "x"), StorageError);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(WholeFileTest, NamesTheFileThatCannotBeWritten) {
  try {
    write_named(directory_.path() / "absent" / "x.xml", "text");
    FAIL();
  } catch (const StorageError& error) {
    EXPECT_NE(std::string(error.what()).find("absent/x.xml"), std::string::npos);
  }
}

}  // namespace
}  // namespace ridgebench
