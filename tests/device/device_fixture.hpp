// The GPU under test, opened once.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "harness/device/open_devices.hpp"

namespace ridgebench {

class DeviceTest : public ::testing::Test {
 protected:
  static Device& device() {
    static const auto devices = open_devices("cuda:0");
    return *devices.front();
  }
};

}  // namespace ridgebench
