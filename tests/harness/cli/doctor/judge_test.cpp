// Findings by facts alone, where a machine of the tests cannot be made so.
#include <gmock/gmock.h>

#include <algorithm>

#include "harness/cli/doctor/conditions.hpp"
#include "harness/cli/doctor/finding.hpp"
#include "harness/cli/doctor/print_findings.hpp"

namespace ridgebench::doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Facts quiet_host() {
  return Facts::parse(R"({"host": {
    "cpu_model": "A CPU", "threads": 8, "cores": 8, "online_processors": 8, "threads_limited_by": "processors",
    "governors": ["performance"], "load_average": 0.1, "virtualized": false,
    "available_memory_bytes": 64e9, "memory_bytes": 68e9, "memory_left_in_group_bytes": null,
    "huge_pages": "always [madvise] never", "swap_bytes": 4e9, "free_swap_bytes": 4e9,
    "free_disk_bytes": 1e12, "stack_limit_bytes": 8388608, "isa": "x86-64-v4", "os": "Linux"}})");
}

// "" where no finding has the code.
std::string help_with(const Findings& findings, const std::string& code) {
  const auto found = std::ranges::find(findings, code, &Finding::code);
  return found == findings.end() ? "" : std::string(name(found->status)) + ": " + found->help;
}

std::string help_of_host(const char* key, const Facts& value, const std::string& code) {
  Facts facts = quiet_host();
  facts["host"][key] = value;
  Findings findings;
  judge_host(facts, findings);
  return help_with(findings, code);
}

TEST(DoctorHost, AQuietHostHasNothingToSay) {
  Findings findings;
  judge_host(quiet_host(), findings);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].status, Status::ok);
  Findings empty;
  judge_host(Facts::object(), empty);  // nothing can be read
  EXPECT_FALSE(empty.empty());
}

TEST(DoctorHost, NamesWhatLimitsIt) {
  EXPECT_THAT(help_of_host("cpu_quota", 1.5, "cpu_quota"), StartsWith("note: raise the CPU limit"));
  EXPECT_THAT(help_of_host("online_processors", 64, "affinity"), StartsWith("note: taskset"));
  EXPECT_THAT(help_of_host("governors", {"powersave"}, "governor"),
              HasSubstr("owner's consent: sudo cpupower frequency-set -g performance"));
  EXPECT_THAT(help_of_host("load_average", 7.5, "busy"), StartsWith("warning: top"));
  EXPECT_EQ(help_of_host("load_average", 3.5, "busy"), "");
  EXPECT_THAT(help_of_host("event_tick_s", 4e-3, "coarse_clock"), StartsWith("warning: cat"));
  EXPECT_EQ(help_of_host("event_tick_s", 3e-8, "coarse_clock"), "");
  EXPECT_THAT(help_of_host("virtualized", true, "virtual_machine"), StartsWith("note: "));
  EXPECT_THAT(help_of_host("available_memory_bytes", 1e9, "little_memory"), HasSubstr("ps aux"));
  EXPECT_THAT(help_of_host("memory_left_in_group_bytes", 1e9, "little_memory"),
              HasSubstr("memory limit of the container"));
  EXPECT_THAT(help_of_host("huge_pages", "always madvise [never]", "huge_pages_off"),
              HasSubstr("transparent_hugepage/enabled"));
  EXPECT_THAT(help_of_host("free_swap_bytes", 1e9, "swap_in_use"), HasSubstr("free -h"));
  EXPECT_THAT(help_of_host("free_disk_bytes", 1e6, "little_disk"), HasSubstr("df -h"));
  EXPECT_THAT(help_of_host("stack_limit_bytes", 1 << 20, "small_stack"), HasSubstr("ulimit -s"));
}

MachineFacts machine_of(const char* device, double load, double tick_s) {
  const Facts identity{{"threads", 8}, {"event_tick_s", tick_s}};
  return {.devices = {{.name = device,
                       .backend = Backend::cpu,
                       .data_sheet = {},
                       .identity = identity,
                       .state = {}}},
          .host = {},
          .host_state = {{"load_average", load}}};
}

std::vector<std::string> codes_of(const Findings& findings) {
  std::vector<std::string> codes;
  for (const Finding& one : findings) {
    if (one.code != "governor") codes.push_back(one.code);  // this machine's
  }
  return codes;
}

TEST(Conditions, ARunBeforeThisOneLeavesALoadThatIsNoOtherProgram) {
  EXPECT_THAT(codes_of(conditions_of(Fill::normal, machine_of("cpu", 8, 3e-8))), IsEmpty());
  EXPECT_THAT(codes_of(conditions_of(Fill::normal, machine_of("cpu", 8.1, 3e-8))),
              ElementsAre("busy"));
}

TEST(Conditions, AHostIsJudgedWhereItIsMeasured) {
  EXPECT_THAT(codes_of(conditions_of(Fill::uniform, machine_of("cpu", 99, 4e-3))),
              ElementsAre("busy", "coarse_clock"));
  EXPECT_THAT(codes_of(conditions_of(Fill::uniform, machine_of("cuda:0", 99, 4e-3))), IsEmpty());
  EXPECT_THAT(codes_of(conditions_of(Fill::zeros, machine_of("cuda:0", 99, 4e-3))),
              ElementsAre("fill"));
}

TEST(Conditions, AResumedRunKeepsThoseOfBefore) {
  nlohmann::ordered_json environment;
  add_conditions(environment, {});
  EXPECT_EQ(environment["conditions"], nlohmann::ordered_json::array());
  add_conditions(environment, conditions_of(Fill::zeros, machine_of("sim", 0, 0)));
  add_conditions(environment, conditions_of(Fill::zeros, machine_of("sim", 0, 0)));
  ASSERT_EQ(environment["conditions"].size(), 1U);
  EXPECT_EQ(environment["conditions"][0]["code"], "fill");
}

Findings findings_of_libraries(const Facts& libraries, const char* cuda) {
  Findings findings;
  judge_libraries(Facts{{"build", {{"cuda", cuda}}},
                        {"gpus", {{{"device", "cuda:0"}}}},
                        {"libraries", libraries}},
                  findings);
  return findings;
}

TEST(DoctorLibraries, NamesWhatIsMissing) {
  const Facts none{{"cublas", {{"looked_for", "libcublas.so.13"}}}};
  Findings findings = findings_of_libraries(none, "nvcc 13.0.88, architectures 90");
  EXPECT_THAT(help_with(findings, "cublas_missing"),
              StartsWith("warning: pip install nvidia-cublas,"));
  EXPECT_THAT(help_with(findings, "openblas_missing"), HasSubstr("libopenblas-dev"));
  EXPECT_THAT(help_with(findings, "onednn_missing"), HasSubstr("libdnnl-dev"));
  findings = findings_of_libraries(none, "nvcc 12.4.1, architectures 90");
  EXPECT_THAT(help_with(findings, "cublas_missing"), HasSubstr("nvidia-cublas-cu12,"));
  const Facts slow{{"openblas", {{"version", "OpenBLAS on Prescott"}, {"better_core", "HASWELL"}}}};
  EXPECT_THAT(help_with(findings_of_libraries(slow, ""), "openblas_core"),
              HasSubstr("unset OPENBLAS_CORETYPE (it would be HASWELL)"));
}

TEST(DoctorBuild, ADebugBuildIsAWarning) {
  Findings findings;
  judge_build({{"build", {{"version", "1"}, {"build_type", "Debug"}}}}, findings);
  EXPECT_THAT(help_with(findings, "debug_build"), StartsWith("warning: "));
}

TEST(DoctorDriver, AnOlderDriverOfTheSameMajorVersionIsANote) {
  Facts facts{{"build", {{"cuda", "nvcc 12.8.93, architectures 80-real;90"}}},
              {"driver",
               {{"cuda",
                 {{"end", "answered"},
                  {"library", "libcuda.so.1"},
                  {"status", 0},
                  {"version", 12040},
                  {"gpus", {{{"index", 0}}}}}},
                {"nvml", {{"end", "answered"}, {"status", 0}}}}},
              {"gpus", {{{"device", "cuda:0"}}}}};
  Findings findings;
  judge_driver(facts, findings);
  EXPECT_EQ(help_with(findings, "minor_version"), "note: ");
  EXPECT_EQ(help_with(findings, "driver_too_old"), "");
  facts["gpus"][0] = {{"device", "cuda:0"}, {"compute_capability", 100}};
  judge_gpu(facts, facts["gpus"][0], findings);
  EXPECT_THAT(help_with(findings, "ptx_too_new"), StartsWith("error: install a newer driver"));
}

TEST(DoctorDriver, ABuildWithoutCudaCannotMeasureAGpu) {
  Findings findings;
  judge_driver({{"build", {{"cuda", nullptr}}}, {"gpus", {{{"device", "cuda:0"}}}}}, findings);
  EXPECT_THAT(help_with(findings, "build_without_cuda"),
              StartsWith("error: scripts/build.sh cuda"));
}

TEST(DoctorText, WrapsTextsAndNoCommands) {
  const Findings findings{{"host", "", Status::note, "code", "one two three four five six seven",
                           "a command that is longer than the line"}};
  const std::string text = text_of_findings(findings, "verdict", {.color = false, .columns = 40});
  EXPECT_THAT(text,
              StartsWith("host  note     one two three four five\n               six seven\n"));
  EXPECT_THAT(text, HasSubstr("> a command that is longer than the line\n"));
  EXPECT_THAT(text, EndsWith("\nverdict\n"));
  EXPECT_THAT(text_of_findings(findings, "verdict", {.color = true, .columns = {}}),
              HasSubstr("\033[36mnote\033[0m"));
}

}  // namespace
}  // namespace ridgebench::doctor
