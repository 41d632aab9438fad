// The program lists and describes cases without an allocation, a tuning or a launch.
#include "harness/measure/case.hpp"

#include <gmock/gmock.h>

#include <set>
#include <sstream>
#include <stdexcept>

#include "harness/cli/commands.hpp"
#include "harness/device/cpu/device.hpp"
#include "harness/device/open_devices.hpp"
#include "tests/support/made_up_case.hpp"
#include "tests/support/resolved_registry.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

[[noreturn]] void fail() { throw std::logic_error("the device was used"); }

class UntouchableQueue final : public Queue {
 public:
  [[nodiscard]] void* stream() const override { fail(); }
  [[nodiscard]] int threads() const override { fail(); }
  [[nodiscard]] std::shared_ptr<void> allocate(std::size_t /*bytes*/) override { fail(); }
  [[nodiscard]] double time(const Launch& /*launch*/) override { fail(); }
};

// The queue, memory and clock of this device fail when the program uses them.
class UntouchableDevice final : public CpuDevice {
 public:
  explicit UntouchableDevice(Backend backend) : backend_(backend) {
    if (backend == Backend::cuda) machine_.compute_capability = 90;
  }
  [[nodiscard]] std::string name() const override { return "untouchable"; }
  [[nodiscard]] Backend backend() const override { return backend_; }
  [[nodiscard]] Queue& queue() override { return queue_; }
  [[nodiscard]] DeviceMemory& memory() override { fail(); }
  [[nodiscard]] std::optional<double> busy_share(const Launch& /*launch*/) override { fail(); }
  Timing time_batch(std::span<const Launch> /*rotation*/, std::int64_t /*repeats*/) override {
    fail();
  }
  Timing time_cold(const Launch& /*launch*/) override { fail(); }
  void run(const Launch& /*launch*/) override { fail(); }

 private:
  Backend backend_;
  UntouchableQueue queue_;
};

const RegisterDevices untouchable{
    {.name = "untouchable", .open = [](const std::string& text) -> std::unique_ptr<Device> {
       const Backend backend = text == "cuda" ? Backend::cuda : Backend::cpu;
       return std::make_unique<UntouchableDevice>(backend);
     }}};

class CaseTest : public RegistryTest {};

TEST_F(CaseTest, SupportIsKnownWithoutUsingTheDevice) {
  for (const Backend backend : {Backend::cpu, Backend::cuda}) {
    UntouchableDevice device(backend);
    for (const Profile profile :
         {Profile::quick, Profile::standard, Profile::full, Profile::lecture}) {
      for (const Case& c : enumerate_cases(Registry::instance(), device, profile, {})) {
        EXPECT_NO_THROW(static_cast<void>(unsupported_reason(c))) << c.id();
      }
    }
  }
}

TEST_F(CaseTest, NoIdComesTwiceInAnyProfile) {
  for (const Backend backend : {Backend::cpu, Backend::cuda}) {
    UntouchableDevice device(backend);
    for (const Profile profile :
         {Profile::quick, Profile::standard, Profile::full, Profile::lecture}) {
      std::set<std::string> ids;
      for (const Case& c : enumerate_cases(Registry::instance(), device, profile, {})) {
        EXPECT_TRUE(ids.insert(c.id()).second) << c.id();
      }
    }
  }
}

class CommandTest : public CaseTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(CommandTest, LaunchesAndTunesNothing) {
  std::vector<std::string> words{"ridgebench"};
  std::istringstream line(GetParam());
  for (std::string word; line >> word;) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  ::testing::internal::CaptureStdout();
  const int code = run_command_line(static_cast<int>(arguments.size()), arguments.data());
  EXPECT_FALSE(::testing::internal::GetCapturedStdout().empty());
  EXPECT_EQ(code, 0);
}

INSTANTIATE_TEST_SUITE_P(Untouchable, CommandTest,
                         ::testing::Values("list --device untouchable",
                                           "list --device untouchable --profile full --json",
                                           "run --device untouchable --dry-run",
                                           "run --device untouchable --benchmark_list_tests",
                                           "predict relu n:4 --format bf16 --on h200"));

TEST(LeftOutOfQuick, IsAProductWhoseOperationHasATunedTechniqueOfTheSameOrigin) {
  SimulatedDevice gpu(parse_simulation("power_limit=700,draw=1200"));
  MadeUpCase made_up(gpu);
  made_up.operation.engine = Engine::tensor;
  Case naive = made_up.get();
  Case tuned = naive;
  tuned.technique.name = "made_up_tuned_promoted";
  Case library = naive;
  library.technique.origin = Origin::library;
  const std::vector<Case> all{naive, tuned, library};
  EXPECT_TRUE(left_out_of_quick(naive, all));
  EXPECT_FALSE(left_out_of_quick(tuned, all));
  EXPECT_FALSE(left_out_of_quick(library, all)) << "the library has no tuned one";
  EXPECT_FALSE(left_out_of_quick(naive, std::vector{naive, library}));
  Case ladder = naive;
  ladder.format = kLadderFormat;
  Case ladder_tuned = tuned;
  ladder_tuned.format = kLadderFormat;
  EXPECT_FALSE(left_out_of_quick(ladder, std::vector{ladder, ladder_tuned}));
  SimulatedDevice host{Simulation{}};
  naive.device = tuned.device = &host;
  EXPECT_FALSE(left_out_of_quick(naive, std::vector{naive, tuned})) << "a host measures all rows";
  made_up.operation.engine = Engine::fma;
  naive.device = tuned.device = &gpu;
  EXPECT_FALSE(left_out_of_quick(naive, std::vector{naive, tuned})) << "no product";
}

TEST(LeftOutUnlessNamed, IsAnOperationOfAStepThatTheFilterDoesNotName) {
  SimulatedDevice host{Simulation{}};
  MadeUpCase made_up(host);
  const auto left_out = [&](const char* filter) {
    return left_out_unless_named(made_up.get(), Selection(), Filter(filter));
  };
  EXPECT_FALSE(left_out("")) << "every profile measures other operations";
  made_up.operation.of_step = true;
  for (const char* filter : {"", "fp32", "made_up", "-relu"})
    EXPECT_TRUE(left_out(filter)) << filter;
  for (const char* filter : {"identity", "^(relu|identity)/"}) {
    EXPECT_FALSE(left_out(filter)) << filter;
  }
}

}  // namespace
}  // namespace ridgebench
