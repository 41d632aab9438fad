// Ceilings of another machine judge no row.
#include "harness/results/comparable.hpp"

#include <gmock/gmock.h>

namespace ridgebench {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

ordered_json on_machine(const char* host, const ordered_json& device) {
  return {{"host", {{"hostname_hash", host}}}, {"devices", ordered_json::array({device})}};
}

TEST(Comparable, AGpuIsTheSameOnAnotherHostAndAnotherOneOnTheSameHost) {
  const ordered_json one{{"name", "cuda:0"}, {"backend", "cuda"}, {"uuid_hash", "a"}};
  ordered_json other = one;
  EXPECT_THAT(differences(on_machine("x", one), on_machine("y", other)), IsEmpty());
  other["uuid_hash"] = "b";
  EXPECT_THAT(differences(on_machine("x", one), on_machine("x", other)),
              ElementsAre("uuid_hash: a against b"));
  other["uuid_hash"] = nullptr;
  EXPECT_THAT(differences(on_machine("x", one), on_machine("x", other)), IsEmpty()) << "unknown";
}

TEST(Comparable, TheProcessorOfAnotherHostIsAnotherMachine) {
  const ordered_json cpu{{"name", "cpu"}, {"backend", "cpu"}};
  EXPECT_THAT(differences(on_machine("x", cpu), on_machine("y", cpu)),
              ElementsAre(StartsWith("host.hostname_hash: x against y")));
  EXPECT_THAT(differences(on_machine("x", cpu), on_machine("x", cpu)), IsEmpty());
}

}  // namespace
}  // namespace ridgebench
