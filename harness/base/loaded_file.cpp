#include "harness/base/loaded_file.hpp"

#include <link.h>

#include <filesystem>

namespace ridgebench {
namespace {

struct LibrarySearch {
  std::string_view name;
  std::string found;
};

int matches_library(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<LibrarySearch*>(data);
  const std::filesystem::path file = info->dlpi_name;
  if (!file.filename().string().starts_with(search.name)) return 0;
  search.found = file;
  return 1;
}

}  // namespace

std::string loaded_file(std::string_view name) {
  LibrarySearch search{.name = name, .found = {}};
  dl_iterate_phdr(matches_library, &search);
  if (search.found.empty()) return {};
  std::error_code unresolved;
  const auto file = std::filesystem::canonical(search.found, unresolved);
  return unresolved ? search.found : file.string();
}

}  // namespace ridgebench
