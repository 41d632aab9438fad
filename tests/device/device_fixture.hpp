// The GPU under test, opened once.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "harness/device/cuda/device.hpp"

namespace ridgebench {

class DeviceTest : public ::testing::Test {
 protected:
  static Device& device() {
    static const std::unique_ptr<Device> gpu = open_cuda_device(0);
    return *gpu;
  }
};

}  // namespace ridgebench
