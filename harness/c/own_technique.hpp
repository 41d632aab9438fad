// A technique whose launches are callbacks of the program that uses the C interface.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/c/caller_thread.hpp"
#include "harness/c/own_operation.hpp"
#include "harness/c/ridgebench.h"
#include "kernels/common/registry.hpp"

namespace ridgebench {

class OwnTechnique {
 public:
  // Throws UsageError.
  OwnTechnique(const ridgebench_technique& described, const OwnOperation& operation);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& operation() const { return operation_; }
  [[nodiscard]] Backend backend() const { return backend_; }
  // One implementation per format, valid as long as this object. `operation` is the technique's.
  [[nodiscard]] std::vector<Implementation> implementations(
      const Operation& operation, double launch_floor_s,
      const std::shared_ptr<CallerThread>& thread) const;

 private:
  [[nodiscard]] Bind binder(FormatPair format, const std::shared_ptr<CallerThread>& thread) const;

  std::string operation_;
  std::string name_;
  Backend backend_;
  std::vector<FormatPair> formats_;
  Engine engine_;
  std::optional<Format> arithmetic_;
  double approximation_error_;
  ridgebench_technique callbacks_;
};

}  // namespace ridgebench
