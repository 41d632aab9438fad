// The causes of a row's time: what was injected into its record is named first.
#include "harness/results/explained/explained.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "harness/results/doubts.hpp"
#include "tests/support/sample_record.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A row of a GPU at 60 % of its roof, without a cause.
Record healthy_row(const std::string& technique = "wgmma") {
  Record r = sample_record("matmul/" + technique + "/bf16/n:4096/steady@cuda:0");
  r.op = "matmul";
  r.technique = technique;
  r.backend = Backend::cuda;
  r.device = "cuda:0";
  r.role = Role::kernel;
  r.saturates.reset();
  r.level.reset();
  r.engine = Engine::tensor;
  r.flops = 1.4e11;
  r.bytes = 1e8;
  r.clock_hz = 1.8e9;
  r.held_back_by.reset();
  r.early = false;
  r.early_unknown.reset();
  r.fraction_of_measured_roof = 0.6;
  r.telemetry = {{"sm_clock_hz", {{"median", 1.95e9}}},
                 {"memory_clock_hz", {{"median", 2.619e9}}},
                 {"other_processes", 0},
                 {"window", {{"elapsed_s", 2.0}, {"power_capped_s", 0.0}, {"heat_capped_s", 0.0}}}};
  r.flags = {};
  return r;
}

ordered_json healthy_environment() {
  return ordered_json{
      {"duration_s", 100.0},
      {"devices",
       {{{"name", "cuda:0"},
         {"data_sheet", "h100-sxm"},
         {"power_limit_w", 700.0},
         {"launch_floor_s", 2e-6},
         {"clocks",
          {{"max_sm_hz", 1.98e9}, {"application_sm_hz", 1.98e9}, {"max_memory_hz", 2.619e9}}},
         {"pcie", {{"generation", 5}, {"max_generation", 5}, {"lanes", 16}, {"max_lanes", 16}}}},
        {{"name", "cpu"}, {"threads", 8}}}}};
}

struct MadeUpRun {
  std::vector<Record> records = {healthy_row()};
  ordered_json environment = healthy_environment();
  Limit limit = Limit::compute;

  [[nodiscard]] JudgedRun judged() const {
    JudgedRun run{.folder = "made_up"};
    run.records = records;
    for (const Record& r : records) {
      run.rows.push_back({.id = r.id,
                          .bound = limit,
                          .fraction_of_measured_roof = r.fraction_of_measured_roof,
                          .least_time_s = 0.6e-6,
                          .limited_by = {"ceiling"}});
    }
    return run;
  }
  [[nodiscard]] ExplainedRun explained() const { return explain(judged(), environment); }
};

std::string first_cause(const ExplainedRun& run) {
  return run.rows.at(0).causes.empty() ? "" : run.rows.at(0).causes.front().code;
}

void cap(Record& r, double share, double clock_hz) {
  r.telemetry["window"]["power_capped_s"] = 2.0 * share;
  r.power_state = power_state(share);
  r.clock_hz = clock_hz;
}

// Bytes/s of a link of generation 3 or newer, and more than those of an older one.
double pcie_rate(int generation, int lanes) {
  return 1e9 * 128 / 130 * std::exp2(generation - 3) * lanes;
}

// The first row becomes a copy to the GPU at this rate, over a link that was read so.
void copy_over_link(MadeUpRun& run, int generation, int lanes, double bytes_per_s) {
  Record& r = run.records[0];
  r.op = "copy_to_device";
  r.role = Role::ceiling;
  r.saturates = Resource::link;
  r.bytes = bytes_per_s * r.time->median;
  auto& pcie = run.environment["devices"][0]["pcie"];
  pcie["generation"] = generation;
  pcie["lanes"] = lanes;
}

// An injected cause, on top of any row.
struct Injected {
  std::string code;
  std::function<void(MadeUpRun&)> into;
};

std::vector<Injected> injected_causes() {
  std::vector<Injected> all;
  for (const auto& [share, clock_hz] :
       {std::pair{0.06, 1.7e9}, {0.3, 1.6e9}, {0.6, 1.4e9}, {0.97, 1.22e9}, {1.0, 0.9e9}}) {
    all.push_back({"power_cap", [=](MadeUpRun& run) { cap(run.records[0], share, clock_hz); }});
  }
  for (const double clock_hz : {1.6e9, 1.4e9, 1.2e9, 0.7e9, 0.345e9}) {
    all.push_back({"low_clock", [=](MadeUpRun& run) {
                     run.records[0].clock_hz = clock_hz;
                     run.records[0].telemetry["sm_clock_hz"]["median"] = clock_hz;
                   }});
  }
  for (const auto& [generation, lanes] : {std::pair{4, 16}, {3, 16}, {1, 16}, {5, 8}, {3, 4}}) {
    all.push_back({"narrow_link", [=](MadeUpRun& run) {
                     copy_over_link(run, generation, lanes, 0.8 * pcie_rate(generation, lanes));
                   }});
  }
  for (const int others : {1, 2, 7}) {
    all.push_back(
        {"busy", [=](MadeUpRun& run) { run.records[0].telemetry["other_processes"] = others; }});
  }
  for (const char* const text : {"load 3.2 on 2 threads", "load 40 on 32 threads"}) {
    all.push_back({"busy", [=](MadeUpRun& run) {
                     run.records[0].backend = Backend::cpu;
                     run.records[0].device = "cpu";
                     run.environment["conditions"] = {{{"code", "busy"}, {"text", text}}};
                   }});
  }
  for (const char* const text :
       {"cuda:0 counted faults during the run: ecc_uncorrected grew", "x"}) {
    all.push_back({"worn", [=](MadeUpRun& run) {
                     run.environment["conditions"] = ordered_json::array(
                         {{{"code", "worn"}, {"text", "of another"}, {"device", "cuda:99"}},
                          {{"code", "worn"}, {"text", text}, {"device", "cuda:0"}}});
                   }});
  }
  return all;
}

Record ceiling_with_energy(const std::string& id, Resource saturates, double joules) {
  Record r = healthy_row();
  r.id = id;
  r.role = Role::ceiling;
  r.saturates = saturates;
  r.flops = r.bytes = 1e12;
  r.telemetry["window"]["energy_per_launch_j"] = joules;
  return r;
}

MadeUpRun run_with_energy() {
  MadeUpRun run;
  run.records[0].telemetry["window"]["energy_per_launch_j"] = 0.2;  // 1.4e11 FLOP, 1e8 bytes
  run.records.push_back(ceiling_with_energy("tensor_peak", Resource::tensor, 1.25));
  run.records.push_back(ceiling_with_energy("hungry_peak", Resource::tensor, 2));
  run.records.push_back(ceiling_with_energy("copy", Resource::memory, 400));
  return run;
}

TEST(Explained, TheEnergyOfARowStandsBesideThatOfTheThriftiestCeiling) {
  MadeUpRun run = run_with_energy();
  std::optional<RowEnergy> energy = run.explained().rows.at(0).energy;
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->work_per_joule, 7e11);
  EXPECT_EQ(energy->ceiling, "tensor_peak");
  EXPECT_DOUBLE_EQ(*energy->share(), 0.875);
  EXPECT_EQ(energy->text(), "0.2 J a launch, 700 GFLOP a joule: 88 % of 800 GFLOP by tensor_peak");
  run.limit = Limit::memory;
  energy = run.explained().rows.at(0).energy;
  ASSERT_TRUE(energy);
  EXPECT_EQ(energy->ceiling, "copy");
  EXPECT_DOUBLE_EQ(*energy->share(), 0.2);
}

TEST(Explained, ACeilingWithoutAComparableEnergyIsNoYardstick) {
  MadeUpRun run = run_with_energy();
  run.records[1].burst = true;
  run.records[2].arithmetic = Format::fp8_e4m3;
  std::optional<RowEnergy> energy = run.explained().rows.at(0).energy;
  ASSERT_TRUE(energy);
  EXPECT_FALSE(energy->share());
  EXPECT_THAT(energy->text(), HasSubstr("no comparable ceiling of the run has an energy"));
  run.limit = Limit::launch;
  EXPECT_FALSE(run.explained().rows.at(0).energy);
  run.limit = Limit::compute;
  run.records[0].telemetry["window"].erase("energy_per_launch_j");
  EXPECT_FALSE(run.explained().rows.at(0).energy) << "none was recorded";
}

TEST(Explained, AHealthyRowHasNoCause) {
  const ExplainedRun run = MadeUpRun{}.explained();
  EXPECT_EQ(first_cause(run), "");
  EXPECT_THAT(run.findings, ElementsAre(HasSubstr("matmul/wgmma/bf16, reaches 60 %"),
                                        HasSubstr("matmul/wgmma/bf16 is the farthest: 60 %"),
                                        HasSubstr("No reading")));
}

TEST(Explained, TheInjectedCauseIsFirst) {
  for (const Injected& injected : injected_causes()) {
    MadeUpRun run;
    injected.into(run);
    EXPECT_EQ(first_cause(run.explained()), injected.code);
  }
}

TEST(Explained, TheInjectedCauseIsBeforeThoseOfKernelAndMeasurement) {
  for (const Injected& injected : injected_causes()) {
    MadeUpRun run;
    run.records[0].flags = {kFewSamples, "below_one_wave", "drift"};
    run.records[0].early = true;
    run.records.push_back(healthy_row("faster"));
    run.records[1].time->median /= 20;
    injected.into(run);
    EXPECT_EQ(first_cause(run.explained()), injected.code);
  }
}

TEST(Explained, AClockSlowsArithmeticByItsRatio) {
  MadeUpRun run;
  cap(run.records[0], 1, 0.915e9);
  EXPECT_NEAR(*run.explained().rows[0].causes[0].factor, 2, 1e-12);
  run.limit = Limit::memory;
  EXPECT_FALSE(run.explained().rows[0].causes[0].factor) << "the memory has a clock of its own";
}

TEST(Explained, AnOlderRecordHasNoPowerState) {
  MadeUpRun run;
  cap(run.records[0], 0.5, 1.5e9);
  run.records[0].power_state.reset();
  EXPECT_EQ(first_cause(run.explained()), "power_cap");
}

TEST(Explained, ASlowMemoryClockCountsIfMemoryLimits) {
  MadeUpRun run{.limit = Limit::memory};
  run.records[0].telemetry["memory_clock_hz"]["median"] = 1.3095e9;
  const Cause cause = run.explained().rows[0].causes.at(0);
  EXPECT_EQ(cause.code, "low_memory_clock");
  EXPECT_NEAR(*cause.factor, 2, 1e-12);
}

TEST(Explained, ALinkCountsForCopiesToAndFromTheHost) {
  MadeUpRun run;
  run.environment["devices"][0]["pcie"]["lanes"] = 4;
  EXPECT_EQ(first_cause(run.explained()), "") << "a product";
  copy_over_link(run, 5, 4, 0.8 * pcie_rate(5, 4));
  EXPECT_NEAR(*run.explained().rows[0].causes[0].factor, 4, 1e-12);
  run.records[0].op = "copy_to_peer";
  EXPECT_EQ(first_cause(run.explained()), "");
}

TEST(Explained, TheGenerationOfAnIdleLinkIsNoCause) {
  MadeUpRun run;
  copy_over_link(run, 1, 16, 1.5 * pcie_rate(1, 16));
  EXPECT_EQ(first_cause(run.explained()), "") << "the copy was faster than generation 1";
  copy_over_link(run, 1, 8, 1.5 * pcie_rate(1, 8));
  const Cause cause = run.explained().rows[0].causes.at(0);
  EXPECT_NEAR(*cause.factor, 2, 1e-12) << "the lanes count";
  run.records[0].op = "copy_both_ways";
  EXPECT_NEAR(*run.explained().rows[0].causes.at(0).factor, 32, 1e-12) << "half of it one way";
}

TEST(Explained, OtherCeilingsAreNotExplained) {
  MadeUpRun run;
  run.records[0].role = Role::ceiling;
  run.records[0].saturates = Resource::memory;
  EXPECT_TRUE(run.explained().rows.empty());
}

TEST(Explained, ARowBetweenTwoCeilingsThatMovedHasOneCause) {
  const MadeUpRun made_up;
  JudgedRun judged = made_up.judged();
  judged.rows[0].doubted = {"fma_peak", "dram_copy"};
  const ExplainedRun run = explain(judged, made_up.environment);
  ASSERT_EQ(run.causes.size(), 1);
  EXPECT_EQ(run.causes[0].rows, 1) << "of one row";
  EXPECT_THAT(run.findings.back(), HasSubstr("The ceilings fma_peak")) << "an id keeps its case";
  EXPECT_THAT(run.causes[0].evidence(), HasSubstr("the ceilings fma_peak and dram_copy moved"));
}

TEST(Explained, AnImportedRowHeadsNothingAndIsNotTheFastest) {
  MadeUpRun run;
  run.records.push_back(healthy_row("imported"));
  run.records[1].status = Status::unverified;
  run.records[1].time->median /= 2;
  run.records[1].fraction_of_measured_roof = 0.99;
  const ExplainedRun explained = run.explained();
  EXPECT_EQ(first_cause(explained), "");
  EXPECT_THAT(explained.findings.front(), HasSubstr("matmul/wgmma/bf16, reaches 60 %"));
}

TEST(Explained, StolenTimeIsThatOfTheRun) {
  MadeUpRun run;
  run.records[0].backend = Backend::cpu;
  run.records[0].device = "cpu";
  run.environment["state"] = {{"before", {{"host", {{"stolen_s", 50.0}}}}},
                              {"after", {{"host", {{"stolen_s", 58.0}}}}}};
  EXPECT_EQ(first_cause(run.explained()), "") << "1 % of 8 threads for 100 s";
  run.environment["state"]["after"]["host"]["stolen_s"] = 130.0;
  const Cause cause = run.explained().rows[0].causes.at(0);
  EXPECT_EQ(cause.code, "stolen");
  EXPECT_NEAR(*cause.factor, 1 / 0.9, 1e-12);
  run.records[0].device = "simulated";
  run.environment["devices"][1]["name"] = "simulated";
  EXPECT_EQ(first_cause(run.explained()), "") << "a hypervisor takes no time of a simulated clock";
}

TEST(Explained, TheFastestTechniqueOfTheSameWorkIsNamed) {
  MadeUpRun run;
  run.records.push_back(healthy_row("faster"));
  run.records[1].time->median /= 2;
  run.records.push_back(healthy_row("other_work"));
  run.records[2].time->median /= 4;
  run.records[2].shape = Shape({{"n", 512}}, Layout::nt);
  run.records.push_back(healthy_row("fast_accum"));
  run.records[3].time->median /= 8;
  run.records[3].accumulator_bits = 13;
  const ExplainedRun explained = run.explained();
  ASSERT_EQ(explained.rows[0].causes.size(), 1);
  EXPECT_THAT(explained.rows[0].causes[0].evidence, HasSubstr("faster"));
  EXPECT_NEAR(*explained.rows[0].causes[0].factor, 2, 1e-12);
  EXPECT_TRUE(explained.rows[1].causes.empty());
}

TEST(Explained, ATechniqueInAnotherPowerStateIsNamedWithBoth) {
  MadeUpRun run;
  run.records.push_back(healthy_row("faster"));
  run.records[1].time->median /= 2;
  run.records[0].power_state = run.records[1].power_state = PowerState::full_clock;
  EXPECT_THAT(run.explained().rows[0].causes[0].evidence, Not(HasSubstr("power states")));
  run.records[1].power_state = PowerState::capped;
  EXPECT_THAT(run.explained().rows[0].causes[0].evidence,
              HasSubstr("; the power states differ, capped there and full_clock here"));
}

TEST(Explained, ARowWithoutATimeHasItsReason) {
  MadeUpRun run;
  run.records[0].status = Status::wrong;
  run.records[0].reason = "differs";
  run.records[0].time.reset();
  const ExplainedRow row = run.explained().rows[0];
  EXPECT_EQ(row.reason, "differs");
  EXPECT_FALSE(row.time_s);
  EXPECT_TRUE(row.causes.empty());
}

TEST(Explained, NoFindingRestsOnAnUnfinishedRun) {
  JudgedRun run = MadeUpRun{}.judged();
  run.unfinished = "it was interrupted";
  EXPECT_THAT(explain(run, healthy_environment()).findings,
              ElementsAre("No finding rests on this run: it was interrupted."));
}

TEST(Explained, ARowThatTheBudgetCutHeadsNothing) {
  JudgedRun run = MadeUpRun{}.judged();
  run.rows[0].cut_by_budget = true;
  EXPECT_THAT(explain(run, healthy_environment()).findings, ElementsAre(HasSubstr("No reading")));
}

TEST(Explained, ARowFarAboveACeilingIsNamed) {
  JudgedRun run = MadeUpRun{}.judged();
  run.rows[0].raised_by = "matmul/packed/fp32/n:128/steady@sim";
  run.rows[0].raised = 1.09;
  EXPECT_THAT(explain(run, healthy_environment()).findings,
              Not(Contains(HasSubstr("faster than"))));
  run.rows[0].raised = 1.27;
  EXPECT_THAT(explain(run, healthy_environment()).findings,
              Contains("matmul/packed/fp32 is 27 % faster than the ceiling matmul/wgmma/bf16: its "
                       "rate replaces that roof."));
  run.rows[0].raised = 23.8;
  run.rows[0].raised_by = run.rows[0].id;
  EXPECT_THAT(
      explain(run, healthy_environment()).findings,
      Contains("A second look at the ceiling matmul/wgmma/bf16 was 23.8 times as fast as the "
               "first: that is the roof."));
}

TEST(Explained, ANaiveTechniqueHeadsNoGapBesideOthers) {
  MadeUpRun run;
  run.records.push_back(healthy_row("naive"));
  run.records[1].id = "matmul/naive/bf16/n:128/steady@cuda:0";
  run.records[1].fraction_of_measured_roof = 0.001;
  EXPECT_THAT(run.explained().findings.at(1), HasSubstr("matmul/wgmma/bf16 is the farthest: 60 %"));
  run.records.erase(run.records.begin());
  EXPECT_THAT(run.explained().findings.at(1), HasSubstr("matmul/naive/bf16 is the farthest"));
}

TEST(Explained, ACaseWhoseRoofMovedIsNotCounted) {
  MadeUpRun run;
  run.records.push_back(healthy_row());
  run.records[1].id = "relu/vec16/bf16/n:4096/steady@cuda:0";
  run.records[1].op = "relu";
  run.records[1].fraction_of_measured_roof = 0.95;
  JudgedRun judged = run.judged();
  judged.rows[0].doubted = {"ceiling"};
  EXPECT_THAT(explain(judged, run.environment).findings.at(1),
              HasSubstr("In the 1 of 2 cases whose roof is sound, the fastest technique reaches at "
                        "least 95 %"));
}

TEST(Explained, ARunCountsTheRowsOfACause) {
  MadeUpRun run;
  run.records.push_back(healthy_row("second"));
  run.records.push_back(healthy_row("third"));
  cap(run.records[0], 0.9, 1.5e9);
  cap(run.records[1], 0.9, 1.2e9);
  const ExplainedRun explained = run.explained();
  ASSERT_EQ(explained.causes.size(), 1);
  EXPECT_EQ(explained.causes[0].rows, 2);
  EXPECT_EQ(explained.causes[0].of_rows, 3);
  EXPECT_THAT(explained.causes[0].evidence(), HasSubstr("1.20 GHz held"));
  EXPECT_THAT(explained.findings.back(), HasSubstr("(power_cap, 2 of 3 rows)."));
}

TEST(Explained, AnEnvironmentOfAnOlderVersionMayLackEverything) {
  EXPECT_EQ(first_cause(explain(MadeUpRun{}.judged(), ordered_json::object())), "");
}

}  // namespace
}  // namespace ridgebench
