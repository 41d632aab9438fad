// Files of operations and techniques that `--load` adds to the registry: shared objects, or Python.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ridgebench {

struct LoadedKernels {
  std::filesystem::path path;  // absolute
  std::string sha256;
  std::string attribute = {};  // of a Python file: its kernel, or its list of kernels

  [[nodiscard]] bool is_python() const { return !attribute.empty(); }
  // As --load takes it.
  [[nodiscard]] std::string text() const { return with_attribute(path.string()); }
  // Records name the file without its folder.
  [[nodiscard]] std::string name() const { return with_attribute(path.filename().string()); }

 private:
  [[nodiscard]] std::string with_attribute(const std::string& file) const {
    return is_python() ? file + ":" + attribute : file;
  }
};

// Adds the kernels of a file to the registry. `file` is the name that messages have.
using AddKernels = std::function<void(const std::string& file, const LoadedKernels& kernels)>;

// Adds the files in their order, before the registry resolves. A file is a shared object, or
// `FILE.py:NAME`. Runs none of their code. Throws UsageError for a file that is missing, is no
// whole shared object or was compiled for another interface, for two files of one name, and what
// `add` throws. What a file registers is checked by Registry::resolve.
void load_kernels(std::span<const std::string> files, const AddKernels& add);

// Loads a shared object into this process, where it registers its kernels (current_registry).
// Throws UsageError if the file lacks a symbol, throws or registers nothing. A file may end the
// process.
void open_kernels(const std::string& file, const LoadedKernels& kernels);

// Those of load_kernels(), in their order.
const std::vector<LoadedKernels>& loaded_kernels();

// Adds the options --load with which another process of this program loads the same files.
void add_load_arguments(std::vector<std::string>& arguments);

}  // namespace ridgebench
