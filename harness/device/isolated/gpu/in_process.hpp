// The techniques of a GPU in a loaded file, where no other process can use the GPU with this one:
// this process loads the file when it first launches one of them.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/base/loaded_kernels.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

class InProcess {
 public:
  // Loads nothing yet. `file` is the name that messages have.
  InProcess(std::string file, LoadedKernels kernels);

  // Gives a technique the functions of number `index` of the file's techniques.
  void add_launching(Implementation& implementation, std::size_t index,
                     const nlohmann::json& described) const;

 private:
  class File;
  std::shared_ptr<File> file_;
};

// True if this process has loaded a file of own kernels.
bool has_loaded_kernels();

// True if techniques of GPUs run in this process, which settle_isolation() decides.
bool gpus_not_isolated();
void run_gpu_kernels_here();

}  // namespace ridgebench
