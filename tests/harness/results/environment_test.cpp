#include "harness/results/environment.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <regex>
#include <set>

#include "harness/cli/machine_facts.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/results/files/resume.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<std::string> kCommandLine{"ridgebench", "run", "--device", "sim"};

RunRequest full_request() {
  return {.device = "sim",
          .profile = Profile::standard,
          .filter = "^relu/",
          .regimes = {Regime::cold, Regime::warm},
          .seed = 42,
          .fill = Fill::uniform,
          .early_launches = false,
          .budget_s = 12.5,
          .roof = "h100-sxm",
          .ceilings = "some/folder"};
}

class EnvironmentTest : public ::testing::Test {
 protected:
  [[nodiscard]] ordered_json environment(const RunRequest& request = {}) const {
    return make_environment(request, read_machine(devices_), kCommandLine);
  }

  [[nodiscard]] RunRequest read_back(const ordered_json& environment) const {
    write_text(folder_ / "environment.json", environment.dump());
    return read_request(folder_.path().string());
  }

  std::vector<std::unique_ptr<Device>> devices_ = open_devices("sim");
  TemporaryDirectory folder_;
};

// Checks that every object has the keys that the schema requires.
void expect_required_keys(const json& schema, const ordered_json& value, const std::string& where) {
  const json required = schema.value("required", json::array());
  const json properties = schema.value("properties", json::object());
  for (const std::string key : required) {
    EXPECT_TRUE(value.contains(key)) << where << key;
  }
  for (const auto& [key, inner] : properties.items()) {
    if (!value.contains(key)) continue;
    if (value[key].is_object()) expect_required_keys(inner, value[key], where + key + ".");
    if (!value[key].is_array() || !inner.contains("items")) continue;
    for (const auto& item : value[key]) {
      if (item.is_object()) expect_required_keys(inner["items"], item, where + key + "[].");
    }
  }
}

TEST_F(EnvironmentTest, HasEveryKeyOfTheSchema) {
  const json schema =
      json::parse(read_file(RIDGEBENCH_SOURCE_DIR "/results/schema/environment.schema.json"));
  expect_required_keys(schema, environment(), "");
  expect_required_keys(schema, environment(full_request()), "");
}

// Adds the paths of all facts that are null. `unavailable` names them in the same way.
void collect_nulls(const ordered_json& value, const std::string& path, std::set<std::string>& out) {
  for (const auto& [key, inner] : value.items()) {
    const std::string here = path.empty() ? key : path + "." + key;
    if (inner.is_null()) out.insert(here);
    if (inner.is_object()) collect_nulls(inner, here, out);
  }
}

TEST_F(EnvironmentTest, EveryFactThatIsNullHasAReason) {
  const ordered_json all = environment();
  std::set<std::string> nulls;
  collect_nulls(all, "", nulls);
  for (const auto& device : all.at("devices")) {
    collect_nulls(device, device.at("name").get<std::string>(), nulls);
  }
  // Options that the user did not give and facts of the end of a run need no reason.
  for (const char* option : {"device", "filter", "budget_s", "roof", "ceilings", "ended",
                             "duration_s", "state.after", "controls", "doubted"}) {
    EXPECT_EQ(nulls.erase(option), 1U) << option;
  }
  std::set<std::string> explained;
  for (const auto& [key, reason] : all.at("unavailable").items()) {
    explained.insert(key);
    EXPECT_FALSE(reason.get<std::string>().empty()) << key;
  }
  EXPECT_EQ(nulls, explained);
  EXPECT_TRUE(explained.contains("sim.data_sheet"));
}

TEST_F(EnvironmentTest, ARunCountsAsInterruptedUntilItSaysThatItEnded) {
  EXPECT_EQ(environment().at("interrupted"), true);
  EXPECT_TRUE(environment().at("ended").is_null());
  EXPECT_TRUE(std::regex_match(environment().at("started").get<std::string>(),
                               std::regex("[0-9-]{10}T[0-9:]{8}Z")));
}

TEST_F(EnvironmentTest, TheEndTellsTheStateAfter) {
  ordered_json all = environment();
  const ordered_json before = all.at("state").at("before");
  EXPECT_GT(before.at("host").at("available_memory_bytes"), 0);
  EXPECT_TRUE(before.contains("sim"));
  end_environment(all, read_machine(devices_), 12.5);
  EXPECT_EQ(all.at("interrupted"), false);
  EXPECT_EQ(all.at("duration_s"), 12.5);
  const ordered_json after = all.at("state").at("after");
  for (const auto& [key, value] : before.at("host").items()) {
    EXPECT_TRUE(after.at("host").contains(key)) << key;
    const bool explained = all.at("unavailable").contains("state.after.host." + key);
    EXPECT_EQ(after.at("host").at(key).is_null(), explained) << key;
  }
}

TEST_F(EnvironmentTest, RecordsTheCommandAndTheVariablesThatChangeResults) {
  ASSERT_EQ(setenv("OPENBLAS_RIDGEBENCH_TEST", "7=x", 1), 0);
  ASSERT_EQ(setenv("RIDGEBENCH_UNRELATED", "secret", 1), 0);
  const ordered_json all = environment();
  EXPECT_EQ(all.at("command_line"), json(kCommandLine));
  EXPECT_EQ(all.at("environment_variables").at("OPENBLAS_RIDGEBENCH_TEST"), "7=x");
  unsetenv("OPENBLAS_RIDGEBENCH_TEST");
  EXPECT_EQ(all.dump().find("secret"), std::string::npos);
}

TEST_F(EnvironmentTest, RevealsNoHostName) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  EXPECT_NE(environment().at("host").at("hostname_hash"), host.data());
}

TEST_F(EnvironmentTest, GivesTheRequestBack) {
  const RunRequest asked = full_request();
  const RunRequest read = read_back(environment(asked));
  EXPECT_EQ(read.device, asked.device);
  EXPECT_EQ(read.profile, asked.profile);
  EXPECT_EQ(read.filter, asked.filter);
  EXPECT_EQ(read.regimes, asked.regimes);
  EXPECT_EQ(read.seed, asked.seed);
  EXPECT_EQ(read.fill, asked.fill);
  EXPECT_FALSE(read.early_launches);
  EXPECT_EQ(read.budget_s, asked.budget_s);
  EXPECT_EQ(read.roof, asked.roof);
  EXPECT_EQ(read.ceilings, asked.ceilings);
  const RunRequest defaults = read_back(environment());
  EXPECT_TRUE(defaults.filter.empty() && defaults.regimes.empty() && !defaults.budget_s);
  EXPECT_TRUE(defaults.early_launches);
  ordered_json older = environment(asked);
  older.erase("early_launches");
  EXPECT_TRUE(read_back(older).early_launches) << "older runs could not turn it off";
}

TEST_F(EnvironmentTest, ARequestThatNoRunWroteIsRefused) {
  const std::vector<std::pair<std::string, json>> changes{{"schema", "ridgebench.environment/2"},
                                                          {"profile", "slow"},
                                                          {"fill", 1},
                                                          {"regimes", {"hot"}},
                                                          {"seed", -1},
                                                          {"budget_s", "long"}};
  for (const auto& [key, value] : changes) {
    ordered_json changed = environment();
    changed[key] = value;
    EXPECT_THROW(static_cast<void>(read_back(changed)), UsageError) << key;
    changed.erase(key);
    EXPECT_THAT([&] { static_cast<void>(read_back(changed)); },
                ThrowsMessage<UsageError>(HasSubstr(key)));
  }
  EXPECT_THROW(read_request((folder_ / "none").string()), UsageError);
}

TEST(Profile, NamesGoBothWays) {
  for (const Profile profile :
       {Profile::quick, Profile::standard, Profile::full, Profile::lecture}) {
    EXPECT_EQ(parse<Profile>(name(profile)), profile);
  }
  EXPECT_THAT([] { parse<Profile>("slow"); },
              ThrowsMessage<UsageError>(HasSubstr("allowed: quick, standard, full, lecture")));
}

}  // namespace
}  // namespace ridgebench
