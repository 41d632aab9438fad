// Helpers for tests of what the emulator detects.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/emulator/emulator.hpp"

namespace ridgebench::emulator {

// The text of the Fault, empty without one.
template <class Launch>
std::string fault_of(Launch launch) {
  try {
    launch();
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "";
}

inline void expect_fault(const std::string& fault, std::string_view text) {
  EXPECT_NE(fault.find(text), std::string::npos) << fault;
}

}  // namespace ridgebench::emulator
