// The queue of a GPU says which device another process has to open to use the same GPU.
#pragma once

#include <string>
#include <utility>

#include "kernels/common/queue.hpp"

namespace ridgebench {

class GpuQueue : public Queue {
 public:
  // `device`: as --device takes it.
  explicit GpuQueue(std::string device) : device_(std::move(device)) {}
  [[nodiscard]] const std::string& device() const { return device_; }

 private:
  std::string device_;
};

}  // namespace ridgebench
