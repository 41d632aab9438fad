// A loaded file and its processes. One computes the functions of the file's operations, their
// references among them, and never launches a kernel. The other one launches. Neither shares memory
// with the other beyond the inputs, which neither can write.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "harness/base/loaded_kernels.hpp"
#include "harness/device/isolated/kernel_process.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/reference/batched.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

class KernelsFile {
 public:
  // Starts the process that launches nothing. `file` is the name that messages have. Throws
  // UsageError if the file cannot be loaded.
  KernelsFile(std::string file, LoadedKernels kernels);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const LoadedKernels& kernels() const { return kernels_; }
  // Operations and techniques that the file registers.
  [[nodiscard]] const nlohmann::json& description() const { return description_; }

  // The result of a function of the file. Functions return the same for the same arguments, so each
  // command is sent once. Any thread may call it.
  nlohmann::json value_of(const nlohmann::json& command);
  // Computes rows of a reference, whose inputs have these numbers of elements. Any thread may call
  // it.
  void reference(nlohmann::json command, std::span<const RowsOfSet> sets,
                 std::span<const std::size_t> elements);

  // The process that launches. It ends with the last plan and launch that hold it, so that a
  // kernel's changes to its process do not reach the next row.
  std::shared_ptr<KernelProcess> launcher();
  // The same, which uses the device of the queue.
  std::shared_ptr<KernelProcess> launcher(const Queue& queue);

 private:
  KernelProcess& functions();  // started again if it has ended

  std::string file_;
  LoadedKernels kernels_;
  nlohmann::json description_;
  std::mutex mutex_;
  std::unique_ptr<KernelProcess> functions_;
  std::weak_ptr<KernelProcess> launcher_;
  std::map<std::string, nlohmann::json> values_;  // by the packed command
  std::shared_ptr<void> results_;                 // of references, and copies of their inputs
  std::size_t results_bytes_ = 0;
};

// Adds the operations and techniques of a file to the registry. Their functions run in the file's
// processes. This process does not load the file, unless it launches a technique of a GPU whose
// memory no other process can map (settle_isolation).
void add_isolated_kernels(const std::string& name, const LoadedKernels& kernels);

}  // namespace ridgebench
