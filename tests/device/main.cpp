// Runs the tests that need a GPU; without one they are skipped (exit code 77).
#include <gtest/gtest.h>

#include <cstdio>

#include "harness/device/cuda/device.hpp"
#include "kernels/common/registry.hpp"

int main(int count, char** arguments) {
  ridgebench::Registry::instance().resolve();  // tests are named by techniques
  ::testing::InitGoogleTest(&count, arguments);
  if (ridgebench::cuda_device_count() == 0) {
    std::puts("skipped: no GPU");
    return 77;
  }
  return RUN_ALL_TESTS();
}
