// The models of traffic of techniques whose blocks load for themselves, against the bytes that the
// emulated TMA reads.
#include <gtest/gtest.h>

#include <string_view>

#include "tests/emulator/emulator.hpp"
#include "tests/emulator/hopper/tensor_map.hpp"
#include "tests/support/host_run.hpp"

namespace ridgebench::emulator {
namespace {

// Checks a technique in all of its formats. Returns the number of cases that it serves.
int expect_own_loads(std::string_view technique, const Shape& shape) {
  int served = 0;
  HostQueue queue;
  for (const auto& i : Registry::instance().implementations()) {
    if (i->technique.name != technique || i->operation->name != "matmul") continue;
    SCOPED_TRACE(i->format.name() + " " + shape.text());
    HostRun run(*i, shape);
    run.fill(Fill::integers);
    take_bytes_read();
    if (!run.launch()) continue;
    ++served;
    const Plan plan = i->prepare(queue, shape);
    const ModelTraffic model = i->traffic(plan, Machine{}, shape, i->format);
    EXPECT_EQ(static_cast<double>(take_bytes_read()), model.l2_to_sm_bytes);
    EXPECT_EQ(model.dram_bytes, bytes(*i->operation, shape, i->format)) << "one group of rows";
  }
  return served;
}

// Whole tiles and parts of them, along all sizes; several tiles of each kind.
TEST(OwnLoads, AreThoseOfTheModel) {
  set_compute_capability(90);
  set_multiprocessors(kMultiprocessors);
  const auto product = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return Shape({{"m", m}, {"n", n}, {"k", k}}, Layout::nt);
  };
  for (const Shape& shape : {product(128, 256, 64), product(200, 264, 80), product(64, 400, 32)}) {
    EXPECT_EQ(expect_own_loads("ffma_tma", shape), 1);
  }
  for (const Shape& shape : {product(16, 128, 1024), product(5, 72, 512), product(24, 200, 640),
                             product(40, 136, 1536), product(130, 136, 2048)}) {
    EXPECT_GT(expect_own_loads("wgmma_split_k", shape), 1);
  }
}

}  // namespace
}  // namespace ridgebench::emulator
