// No probe refuses an honest kernel: every technique of a host, treated as a kernel of a user.
// RIDGEBENCH_PROBES=1000 takes that many probes of each.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/statistics.hpp"
#include "harness/measure/measurer.hpp"
#include "tests/support/awkward_shapes.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

constexpr double kSecondsOfAnHonestCase = 1e-3;

std::int64_t probes_of_each() {
  const char* const text = std::getenv("RIDGEBENCH_PROBES");
  return text == nullptr ? 8 : std::atoll(text);
}

class HonestKernels : public RegistryTest {};

TEST_F(HonestKernels, PassEveryProbe) {
  CpuDevice device;
  Measurer measurer(device, Fill::normal, 1);
  for (const auto& registered : Registry::instance().implementations()) {
    if (registered->backend != Backend::cpu || registered->operation->ceiling) continue;
    Implementation own = *registered;
    own.calls_back = true;
    const std::vector<Shape> shapes = awkward_shapes(*own.operation);
    std::int64_t probes = 0;
    for (std::size_t i = 0; probes < probes_of_each() && i < 1000; ++i) {
      const Case c{.operation = own.operation,
                   .technique = own.technique,
                   .implementation = &own,
                   .device = &device,
                   .format = own.format,
                   .shape = shapes[i % shapes.size()],
                   .regime = Regime::steady};
      if (unsupported_reason(c)) continue;
      Record record = measurer.measure(c, kSecondsOfAnHonestCase, nullptr);
      ASSERT_EQ(record.status, Status::ok)
          << c.id() << ": " << record.reason.value_or("") << "; median sample "
          << (record.samples_s.empty() ? 0 : middle(record.samples_s))
          << " s; launches on new inputs "
          << ::testing::PrintToString(record.verify->probes->new_inputs_s) << " s, on old ones "
          << ::testing::PrintToString(record.verify->probes->old_inputs_s) << " s";
      ASSERT_TRUE(record.verify->probes) << c.id();
      probes += record.verify->probes->compared;
    }
  }
}

}  // namespace
}  // namespace ridgebench
