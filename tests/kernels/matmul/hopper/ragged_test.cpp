// Rows that TMA cannot take, because their bytes are not a multiple of 16: each refusal names a
// technique that serves the shape in the same format.
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

#include "kernels/common/machine.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

Machine h100() {
  Machine machine;
  machine.units = 132;
  machine.compute_capability = 90;
  return machine;
}

bool is_served(const Implementation& refuses, const std::string& technique, const Shape& shape) {
  return std::ranges::any_of(Registry::instance().implementations(), [&](const auto& i) {
    return i->backend == Backend::cuda && i->operation == refuses.operation &&
           i->format == refuses.format && i->technique.name == technique &&
           !i->unsupported(h100(), shape);
  });
}

TEST(RaggedRows, EachRefusalNamesATechniqueThatServesThem) {
  Registry::instance().resolve();
  int refusals = 0;
  for (const auto& i : Registry::instance().implementations()) {
    if (i->backend != Backend::cuda || !i->operation->name.starts_with("matmul")) continue;
    if (std::ranges::count(i->operation->dimensions, "g") > 0) continue;  // TMA serves no groups
    for (const auto& [m, n, k] :
         {std::tuple(4097, 4097, 4097), {4096, 4096, 4097}, {4096, 4097, 4096}, {64, 8192, 8191}}) {
      const Shape shape({{"m", m}, {"n", n}, {"k", k}}, Layout::nt);
      const std::optional<std::string> reason = i->unsupported(h100(), shape);
      if (!reason || !reason->starts_with("TMA takes rows of multiples")) continue;
      ++refusals;
      const std::size_t at = reason->find("; ");
      ASSERT_NE(at, std::string::npos) << *reason;
      const std::string named = reason->substr(at + 2, reason->find(" serve", at) - at - 2);
      EXPECT_TRUE(is_served(*i, named, shape))
          << i->technique.operation << "/" << i->technique.name << "/" << i->format.name() << "/"
          << shape.text() << ": " << *reason;
    }
  }
  if (refusals == 0) GTEST_SKIP() << "built without the kernels that only Hopper can run";
}

}  // namespace
}  // namespace ridgebench
