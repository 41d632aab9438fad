// Runs the tests that need a GPU; without one they are skipped (exit code 77).
#include <gtest/gtest.h>

#include <cstdio>

#include "harness/device/open_devices.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"

int main(int count, char** arguments) {
  ridgebench::Registry::instance().resolve();  // tests are named by techniques
  ::testing::InitGoogleTest(&count, arguments);
  try {
    ridgebench::open_devices("cuda:0");
  } catch (const ridgebench::DeviceError& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  return RUN_ALL_TESTS();
}
