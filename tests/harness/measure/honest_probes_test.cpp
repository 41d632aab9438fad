// No probe refuses an honest kernel: every technique of a host, treated as a kernel of a user.
// RIDGEBENCH_PROBES=1000 takes that many probes of each.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/measure/measurer.hpp"
#include "tests/support/awkward_shapes.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

constexpr double kSecondsOfAnHonestCase = 1e-3;

std::int64_t probes_of_each() {
  const char* const text = std::getenv("RIDGEBENCH_PROBES");
  return text == nullptr ? 16 : std::atoll(text);
}

TEST(HonestKernels, PassEveryProbe) {
  CpuDevice device;
  Measurer measurer(device, Fill::normal, 1);
  for (const auto& registered : resolved_registry().implementations()) {
    if (registered->backend != Backend::cpu || registered->operation->ceiling) continue;
    Implementation own = *registered;
    own.calls_back = true;
    const Case c{.operation = own.operation,
                 .technique = own.technique,
                 .implementation = &own,
                 .device = &device,
                 .format = own.format,
                 .shape = small_shape(*own.operation),
                 .regime = Regime::steady};
    if (unsupported_reason(c)) continue;
    for (std::int64_t probes = 0; probes < probes_of_each();) {
      const Record record = measurer.measure(c, kSecondsOfAnHonestCase, nullptr);
      ASSERT_EQ(record.status, Status::ok) << c.id() << ": " << record.reason.value_or("");
      ASSERT_TRUE(record.verify->probes) << c.id();
      probes += record.verify->probes->compared;
    }
  }
}

}  // namespace
}  // namespace ridgebench
