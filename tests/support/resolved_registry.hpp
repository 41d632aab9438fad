// The registry as a run sees it: every technique matched with its operation, the newest instruction
// set alone. Puts the whole list back when it goes, for the tests of the kernels run every
// instruction set.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "kernels/common/registry.hpp"

namespace ridgebench {

class ResolvedRegistry {
 public:
  ResolvedRegistry() : whole_(std::exchange(Registry::instance(), Registry())) {
    for (const auto& operation : whole_.operations()) Registry::instance().add(*operation);
    for (const auto& i : whole_.implementations()) Registry::instance().add(*i);
    Registry::instance().resolve();
  }
  ResolvedRegistry(const ResolvedRegistry&) = delete;  // there is one instance to put back
  ResolvedRegistry& operator=(const ResolvedRegistry&) = delete;
  ~ResolvedRegistry() { Registry::instance() = std::move(whole_); }

 private:
  Registry whole_;
};

// Base of tests that enumerate, measure or check rows of linked techniques.
class RegistryTest : public ::testing::Test {
 private:
  ResolvedRegistry registry_;
};

}  // namespace ridgebench
