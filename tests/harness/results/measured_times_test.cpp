#include "harness/results/measured_times.hpp"

#include <gmock/gmock.h>

#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "tests/harness/results/written_results.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using testing::memory_ceiling;
using ::testing::Pair;
using testing::row;
using testing::Rows;
using ::testing::UnorderedElementsAre;
using testing::WrittenResults;

const Operation& multiplication() { return Registry::instance().operation("matmul"); }

json timed_product(const std::string& id, double time_s, json changes = json::object()) {
  json record = row(id, {{"shape", {{"m", 1}, {"n", 2}, {"k", 3}, {"layout", "nt"}}}});
  for (const char* key : {"time_median_s", "time_ci_low_s", "time_ci_high_s", "time_min_s",
                          "time_p10_s", "time_p90_s"}) {
    record[key] = time_s;
  }
  record.update(changes);
  return record;
}

auto taking(double seconds) { return ::testing::Field(&MeasuredTime::seconds, seconds); }

TEST(BestTimes, AreThoseOfTheFastestVerifiedSteadyKernel) {
  json failed = timed_product("failed", 1, {{"status", "failed"}, {"time_median_s", nullptr}});
  const WrittenResults results(
      {memory_ceiling("read", 0, 1e10), timed_product("slow", 3), timed_product("fast", 2), failed,
       timed_product("warm", 1, {{"regime", "warm"}}), timed_product("burst", 1, {{"burst", true}}),
       timed_product("other format", 1, {{"format", "bf16"}}),
       timed_product("other operation", 1, {{"op", "matmul_gelu"}}),
       timed_product("other layout", 4,
                     {{"shape", {{"m", 1}, {"n", 2}, {"k", 3}, {"layout", "nn"}}}})});
  EXPECT_THAT(MeasuredTimes(results.path()).best(multiplication(), Format::fp32),
              UnorderedElementsAre(Pair("m:1/n:2/k:3/layout:nt", taking(2)),
                                   Pair("m:1/n:2/k:3/layout:nn", taking(4))));
}

TEST(BestTimes, KeepThePowerStateOfTheirRow) {
  const WrittenResults results(Rows{memory_ceiling("read", 0, 1e10),
                                    timed_product("slow", 3, {{"power_state", "full_clock"}}),
                                    timed_product("fast", 2, {{"power_state", "capped"}})});
  const BestTimes best = MeasuredTimes(results.path()).best(multiplication(), Format::fp32);
  EXPECT_EQ(best.at("m:1/n:2/k:3/layout:nt").state, PowerState::capped);
}

TEST(BestTimes, AreThoseOfTheDeviceWhoseRoofsAreRead) {
  const json devices{{{"name", "cpu"}, {"model", "Host"}, {"memory_bytes", 16e9}},
                     {{"name", "cuda:0"}, {"model", "GPU"}, {"memory_bytes", 80e9}}};
  const WrittenResults results({memory_ceiling("read", 0, 1e10), timed_product("host", 3),
                                timed_product("gpu", 1, {{"device", "cuda:0"}})},
                               devices);
  const std::string folder = results.path();
  const auto only = [](double time_s) {
    return UnorderedElementsAre(Pair("m:1/n:2/k:3/layout:nt", taking(time_s)));
  };
  EXPECT_THAT(MeasuredTimes(folder).best(multiplication(), Format::fp32), only(3))
      << "the GPU has no ceiling";
  EXPECT_THAT(MeasuredTimes(folder + "@cuda:0").best(multiplication(), Format::fp32), only(1));
}

TEST(BestTimes, AShapeOfAnotherOperationIsNamed) {
  const WrittenResults results(Rows{memory_ceiling("read", 0, 1e10),
                                    timed_product("odd", 1, {{"shape", {{"x", 1}, {"y", 2}}}})});
  const std::string message = testing::message_of<UsageError>(
      [&] { (void)MeasuredTimes(results.path()).best(multiplication(), Format::fp32); });
  EXPECT_EQ(message, results.path().string() +
                         ": odd: unknown dimension 'x'; this operation has m, n, k, b, lda, "
                         "ldb, ldc, layout");
}

TEST(BestTimes, ADataSheetHasNone) {
  EXPECT_THAT(MeasuredTimes("h100").best(multiplication(), Format::bf16), IsEmpty());
}

}  // namespace
}  // namespace ridgebench
