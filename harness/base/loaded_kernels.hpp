// Shared objects of operations and techniques that `--load` adds to the registry.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ridgebench {

struct LoadedKernels {
  std::filesystem::path path;  // absolute
  std::string sha256;

  // Records name the file without its folder.
  [[nodiscard]] std::string name() const { return path.filename().string(); }
};

// Loads the files in their order, before the registry resolves. Throws UsageError for a file that
// is missing, is no whole shared object, was compiled for another interface, lacks a symbol or
// registers nothing, and for two files of one name. What a file registers is checked by
// Registry::resolve.
void load_kernels(std::span<const std::string> files);

// In the order in which they were loaded.
const std::vector<LoadedKernels>& loaded_kernels();

// Adds the options --load with which another process of this program loads the same files.
void add_load_arguments(std::vector<std::string>& arguments);

}  // namespace ridgebench
