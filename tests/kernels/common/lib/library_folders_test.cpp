#include "kernels/common/lib/library_folders.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "kernels/common/error.hpp"
#include "kernels/common/shared_library.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

// A variable that the search reads, for one test.
class SearchVariable {
 public:
  SearchVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  SearchVariable(const SearchVariable&) = delete;  // owns a variable
  SearchVariable& operator=(const SearchVariable&) = delete;
  ~SearchVariable() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

fs::path made(const fs::path& folder) {
  fs::create_directories(folder);
  return folder;
}

TEST(LibraryFolders, CublasIsInTheToolkitThenInPackagesOfPip) {
  const TemporaryDirectory root;
  const SearchVariable home("CUDA_HOME", root / "cuda");
  const SearchVariable environment("VIRTUAL_ENV", root / "venv");
  const SearchVariable conda("CONDA_PREFIX", root / "conda");
  const SearchVariable python("RIDGEBENCH_PYTHON", root / "own/bin/python3");
  const fs::path toolkit = made(root / "cuda/lib64");
  const fs::path packages = root / "venv/lib/python3.11/site-packages/nvidia";
  const fs::path of_13 = made(packages / "cu13/lib");
  const fs::path of_12 = made(packages / "cublas/lib");
  const fs::path of_conda = made(root / "conda/lib/python3.9/site-packages/nvidia/cu13/lib");
  const fs::path of_python = made(root / "own/lib/python3.13/site-packages/nvidia/cu13/lib");

  const LibraryPlaces places = cublas_places(13);
  std::vector<fs::path> own;
  for (const fs::path& folder : places.folders) {
    if (folder.string().starts_with(root.path().string())) own.push_back(folder);
  }
  EXPECT_THAT(own, testing::ElementsAre(toolkit, of_13, of_12, of_conda, of_python));
  EXPECT_THAT(places.names, testing::ElementsAre("libcublas.so.13"));
  EXPECT_THAT(cublas_places(12).folders, AllOf(Contains(of_12), Not(Contains(of_13))));
}

TEST(LibraryFolders, TheAdviceNamesThePackageOfTheMajorVersion) {
  EXPECT_THAT(cublas_places(12).advice, HasSubstr("`pip install nvidia-cublas-cu12`"));
  EXPECT_THAT(cublas_places(13).advice, HasSubstr("`pip install nvidia-cublas`"));
}

TEST(LibraryFolders, EnvironmentsOfPythonHaveLibraries) {
  const TemporaryDirectory root;
  const SearchVariable conda("CONDA_PREFIX", root / "conda");
  EXPECT_THAT(python_library_folders(), Not(Contains(root / "conda/lib")));
  const fs::path folder = made(root / "conda/lib");
  EXPECT_THAT(python_library_folders(), Contains(folder));
}

TEST(LibraryFolders, ALibraryIsLoadedFromAFolder) {
  const TemporaryDirectory root;
  fs::create_symlink(RIDGEBENCH_FAKE_NVML, root / "libridgebench-none.so.1");
  LibraryPlaces places{.names = {"libridgebench-none.so.1"},
                       .folders = {root / "absent", root.path()},
                       .needs = "libridgebench-absent.so",
                       .advice = "it is nowhere"};
  EXPECT_TRUE(SharedLibrary(places).loaded());
  places.folders.pop_back();
  const SharedLibrary missing(places);
  EXPECT_THAT([&] { static_cast<void>(missing.require("nvmlInit_v2")); },
              ThrowsMessage<Unsupported>("libridgebench-none.so.1 is not installed, or cannot be "
                                         "loaded; it is nowhere"));
}

}  // namespace
}  // namespace ridgebench
