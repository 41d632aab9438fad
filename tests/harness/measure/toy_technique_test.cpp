// tests/support/toy_technique.cpp adds a technique that no other product file names. Code that
// walks the registry must find it and name the formats that it does not serve.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "harness/cli/commands.hpp"
#include "harness/measure/measurer.hpp"
#include "tests/support/resolved_registry.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStdout;

class ToyTechnique : public RegistryTest {
 protected:
  std::vector<Case> cases() {
    std::vector<Case> cases =
        enumerate_cases(Registry::instance(), device_, Profile::quick, {Regime::steady});
    std::erase_if(cases, [](const Case& c) { return c.technique.name != "toy"; });
    return cases;
  }

  SimulatedDevice device_{Simulation{}};
};

TEST_F(ToyTechnique, IsEnumeratedInEveryFormatOfItsOperation) {
  const std::vector<Case> all = cases();
  const auto& formats = Registry::instance().operation("relu").formats;
  ASSERT_EQ(all.size(), formats.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].operation->name, "relu");
    EXPECT_EQ(all[i].format, formats[i]);
  }
}

TEST_F(ToyTechnique, IsMeasuredWhereItServesAndSkippedElsewhere) {
  Measurer measurer(device_, Fill::normal, 1);
  int served = 0;
  for (const Case& c : cases()) {
    const Record record = measurer.measure(c, 0, nullptr);
    const std::string format = c.format.name();
    SCOPED_TRACE(format);
    if (format == "fp32" || format == "bf16") {
      ++served;
      EXPECT_EQ(record.status, Status::ok) << record.reason.value_or("");
      ASSERT_TRUE(record.verify);
      EXPECT_GT(record.verify->elements, 0);
      EXPECT_GT(record.bytes_per_s(), 0);
    } else {
      EXPECT_EQ(record.status, Status::skipped);
      EXPECT_EQ(record.reason, unsupported_reason(c));
      EXPECT_THAT(record.reason.value_or(""), HasSubstr("does not serve"));
    }
  }
  EXPECT_EQ(served, 2);
}

// What a command with these words prints on stdout.
std::string printed(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  CaptureStdout();
  const int code = run_command_line(static_cast<int>(arguments.size()), arguments.data());
  std::string text = GetCapturedStdout();
  EXPECT_EQ(code, 0) << text;
  return text;
}

TEST_F(ToyTechnique, IsListedWithItsSupport) {
  const auto list = nlohmann::json::parse(printed({"ridgebench", "list", "--device", "sim",
                                                   "--filter", "^relu/toy/", "--json"}))
                        .at("cases");
  ASSERT_EQ(list.size(), Registry::instance().operation("relu").formats.size());
  for (const auto& row : list) {
    EXPECT_EQ(row.at("op"), "relu");
    EXPECT_EQ(row.at("supported"), row.at("format") == "fp32" || row.at("format") == "bf16");
    EXPECT_EQ(row.at("reason").is_null(), row.at("supported").get<bool>());
  }
}

// A bind may read its operands, or throw: nothing may bind a case that is only listed.
TEST_F(ToyTechnique, ListsNeitherPrepareNorBind) {
  const Registration reads{
      {.operation = "relu", .name = "toy_reads", .engine = Engine::memory},
      +[](Queue& /*queue*/, const Shape& shape, const float* x, float* y) -> Launch {
        y[0] = x[shape["n"] - 1];
        return [] {};
      }};
  const Registration throws{{.operation = "relu", .name = "toy_throws", .engine = Engine::memory},
                            planned(
                                +[](Queue& /*queue*/, const Shape& /*shape*/) -> int { throw 1; },
                                +[](Queue& /*queue*/, const int& /*plan*/, const Shape& /*shape*/,
                                    const float* /*x*/, float* /*y*/) -> Launch { throw 2; })};
  for (std::vector<std::string> words : {std::vector<std::string>{"list"},
                                         {"list", "--json"},
                                         {"run", "--dry-run"},
                                         {"run", "--benchmark_list_tests"}}) {
    words.insert(words.begin(), "ridgebench");
    words.insert(words.end(), {"--device", "sim", "--filter", "^relu/toy_"});
    const std::string text = printed(words);
    EXPECT_THAT(text, HasSubstr("relu/toy_reads/fp32/")) << words[1];
    EXPECT_THAT(text, HasSubstr("relu/toy_throws/fp32/")) << words[1];
  }
}

}  // namespace
}  // namespace ridgebench
