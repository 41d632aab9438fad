#include "kernels/common/interface/registry_capture.hpp"

#include <gtest/gtest.h>

namespace ridgebench {
namespace {

TEST(RegistryCapture, TakesWhatIsRegisteredWhileItLives) {
  const std::size_t before = Registry::instance().operations().size();
  Registry other;
  {
    const RegistryCapture capture(other);
    EXPECT_EQ(&current_registry(), &other);
    Operation operation;
    operation.name = "captured";
    RegisterOperation{operation};
    registry_detail::add({.operation = "captured", .name = "one", .engine = Engine::fma},
                         Backend::cuda, {}, "one.cu");
  }
  EXPECT_EQ(&current_registry(), &Registry::instance());
  EXPECT_EQ(Registry::instance().operations().size(), before);
  ASSERT_EQ(other.operations().size(), 1U);
  EXPECT_EQ(other.operations().front()->name, "captured");
  ASSERT_EQ(other.implementations().size(), 1U);
  EXPECT_EQ(other.implementations().front()->technique.name, "one");
  EXPECT_STREQ(other.implementations().front()->source, "one.cu");
}

}  // namespace
}  // namespace ridgebench
