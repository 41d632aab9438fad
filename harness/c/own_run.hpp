// A run of operations and techniques that a program describes through the C interface.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/c/caller_thread.hpp"
#include "harness/c/own_operation.hpp"
#include "harness/c/own_technique.hpp"
#include "harness/c/ridgebench.h"
#include "harness/device/device.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

class OwnRun {
 public:
  // Each throws UsageError.
  void add_operation(const ridgebench_operation& described);
  void add_technique(const ridgebench_technique& described);
  [[nodiscard]] OwnOperation& operation(std::string_view name);

  // Measures into a results folder as `run` does. Throws what measure_plan() throws.
  ExitCode measure(const ridgebench_request& asked);
  [[nodiscard]] const std::string& folder() const { return folder_; }
  // Serves what was added to the process that started this one. `empty_launch` is a launch without
  // work, or null. Throws UsageError.
  [[noreturn]] void serve(std::int32_t (*empty_launch)(void* user), void* user) const;

 private:
  using Devices = std::vector<std::unique_ptr<Device>>;

  void require_something_to_measure(const Devices& devices) const;
  // Gives the registry everything that was added. `floors` are launch floors in seconds.
  void enter_registry(const std::map<Backend, double>& floors,
                      const std::shared_ptr<CallerThread>& thread) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::string filter() const;

  std::list<OwnOperation> operations_;
  std::list<OwnTechnique> techniques_;
  std::string folder_;
};

}  // namespace ridgebench
