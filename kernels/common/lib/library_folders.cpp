#include "kernels/common/lib/library_folders.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

using Folders = std::vector<fs::path>;

fs::path variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

// The subfolders of a folder whose names begin so; the greatest name is first.
Folders matching(const fs::path& folder, std::string_view start) {
  Folders found;
  std::error_code unreadable;
  for (fs::directory_iterator entry(folder, unreadable), end; entry != end;
       entry.increment(unreadable)) {
    if (entry->path().filename().string().starts_with(start)) found.push_back(entry->path());
  }
  std::ranges::sort(found, std::ranges::greater());
  return found;
}

Folders existing(Folders folders) {
  std::erase_if(folders, [](const fs::path& folder) {
    std::error_code ignored;
    return folder.is_relative() || !fs::is_directory(folder, ignored);
  });
  return folders;
}

Folders python_prefixes() {
  return {variable("VIRTUAL_ENV"), variable("CONDA_PREFIX"),
          variable("RIDGEBENCH_PYTHON").parent_path().parent_path()};
}

// The file that holds this code: a program or a library.
fs::path own_file() {
  Dl_info info{};
  link_map* map = nullptr;
  const auto address = reinterpret_cast<void*>(&cublas_places);
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
  const bool is_program = *map->l_name == '\0';
  std::error_code unreadable;
  return fs::canonical(is_program ? "/proc/self/exe" : map->l_name, unreadable);
}

// The folders of Python's packages that may hold those of NVIDIA: the one in which pip installed
// this code, then those of the environments, of the user and of the machine.
Folders site_packages() {
  Folders folders;
  for (fs::path above = own_file(); above.has_relative_path(); above = above.parent_path()) {
    if (above.filename() == "site-packages" || above.filename() == "dist-packages") {
      folders.push_back(above);
    }
  }
  Folders prefixes = python_prefixes();
  prefixes.push_back(variable("HOME") / ".local");
  prefixes.emplace_back("/usr/local");
  for (const fs::path& prefix : prefixes) {
    for (const fs::path& python : matching(prefix / "lib", "python3")) {
      folders.push_back(python / "site-packages");
      folders.push_back(python / "dist-packages");
    }
  }
  return folders;
}

// The folders lib of the toolkit that the program was built with, then of those of the machine.
Folders cuda_toolkit_folders() {
  Folders folders;
#ifdef RIDGEBENCH_CUBLAS_FOLDER
  folders.emplace_back(RIDGEBENCH_CUBLAS_FOLDER);
#endif
  Folders toolkits{variable("CUDA_HOME"), variable("CUDA_PATH")};
  std::ranges::copy(matching("/usr/local", "cuda"), std::back_inserter(toolkits));
  for (const fs::path& toolkit : toolkits) {
    for (const char* const library : {"lib64", "lib"}) folders.push_back(toolkit / library);
  }
  return existing(std::move(folders));
}

// The folders in which NVIDIA's packages for pip have cuBLAS.
Folders cuda_pip_folders(int major) {
  Folders folders;
  for (const fs::path& each : site_packages()) {
    folders.push_back(each / "nvidia" / ("cu" + std::to_string(major)) / "lib");  // from 13 on
    folders.push_back(each / "nvidia" / "cublas" / "lib");
  }
  return existing(std::move(folders));
}

}  // namespace

Folders python_library_folders() {
  Folders folders = python_prefixes();
  for (fs::path& folder : folders) folder /= "lib";
  return existing(std::move(folders));
}

LibraryPlaces cublas_places(int major) {
  const std::string suffix = ".so." + std::to_string(major);
  Folders folders = cuda_toolkit_folders();
  std::ranges::copy(cuda_pip_folders(major), std::back_inserter(folders));
  return {
      .names = {"libcublas" + suffix},
      .folders = std::move(folders),
      .needs = "libcublasLt" + suffix,
      .advice = std::string("searched: LD_LIBRARY_PATH, CUDA_HOME, CUDA_PATH, /usr/local/cuda*, "
                            "packages of pip; `pip install nvidia-cublas") +
                (major < 13 ? "-cu" + std::to_string(major) : "") + "` installs it"};
}

}  // namespace ridgebench
