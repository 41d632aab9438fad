// The closed form of a step's peak against the bands of its phases; tests/cli/answers has an
// executor of lifetimes, which counts both a third time.
#include "roofline/plan/step_memory.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "kernels/common/error.hpp"
#include "roofline/plan/network.hpp"

namespace ridgebench {
namespace {

constexpr double kStepWidth = 64;
constexpr double kStepRows = 128;
constexpr double kStepOutput = 2 * kStepWidth * kStepRows;  // bytes, a multiple of 256
constexpr double kStepLoss = 4 * kStepRows;

ActivationQuestion step_of(double layers, bool gelu, const std::string& checkpoint,
                           double parts = 1) {
  return {.layers = layers,
          .width = kStepWidth,
          .batch = kStepRows * parts,
          .micro_batches = parts,
          .pre_activations = gelu,
          .checkpoint = checkpoint};
}

double peak_of(const StepMemory& step) {
  return step.activation_bytes() + step.temporary_bytes() - step.batch_bytes - step.loss_bytes;
}

// F: with h_0.
double tensors(double layers, bool gelu, const std::string& checkpoint) {
  return peak_of(step_memory(step_of(layers, gelu, checkpoint))) / kStepOutput + 1;
}

TEST(StepMemory, HasThePeakOfTheSpecification) {
  EXPECT_DOUBLE_EQ(tensors(8, false, "none"), 8 + 3);
  EXPECT_DOUBLE_EQ(tensors(8, true, "none"), 2 * 8 + 2);
  EXPECT_DOUBLE_EQ(tensors(8, false, "full"), 5);
  EXPECT_DOUBLE_EQ(tensors(8, true, "full"), 5);
  EXPECT_DOUBLE_EQ(tensors(1, true, "full"), 4) << "one layer has nothing to compute again";
  // 8 layers: sqrt is every third one, and the last of three segments has two layers.
  EXPECT_DOUBLE_EQ(tensors(8, false, "sqrt"), std::max({0 + 3, 1 + 3, 2 + 2}) + 3);
  EXPECT_DOUBLE_EQ(tensors(8, true, "sqrt"), std::max({0 + 6, 1 + 6, 2 + 4}) + 2);
  EXPECT_DOUBLE_EQ(tensors(8, false, "layer"), 7 + 1 + 3);
  EXPECT_DOUBLE_EQ(tensors(8, false, "every:8"), 8 + 3) << "one segment, computed again whole";
  EXPECT_DOUBLE_EQ(tensors(8, false, "every:99"), 8 + 3);
}

// The most bytes of each layer of a phase, without phases in which nothing lives.
using Most = std::map<std::pair<StepPhase, double>, double>;

Most most_of(const std::vector<StepBand>& bands, const StepMemory& step) {
  Most most;
  for (const StepBand& band : bands) {
    if (band.bytes(step) == 0) continue;
    double& bytes = most[{band.phase, band.layer}];
    bytes = std::max(bytes, band.bytes(step));
  }
  return most;
}

TEST(StepMemory, BandsAreTheMostOfTheLaunchesAndReachThePeak) {
  for (double layers = 1; layers <= 14; ++layers) {
    std::vector<std::string> ways{"none", "layer", "sqrt", "full"};
    for (double k = 1; k <= layers; ++k) ways.push_back("every:" + std::to_string(int(k)));
    for (const std::string& way : ways) {
      for (const bool gelu : {false, true}) {
        for (const double parts : {1.0, 3.0}) {
          ActivationQuestion question = step_of(layers, gelu, way, parts);
          question.adds_gradients = true;  // so that each micro-batch is as the second one
          const StepMemory step = step_memory(question);
          const Most most = most_of(step_bands(question), step);
          EXPECT_EQ(most, most_of(step_launches(question), step)) << layers << way << gelu << parts;
          EXPECT_DOUBLE_EQ(std::ranges::max(most | std::views::values), peak_of(step));
          question.adds_gradients = false;
          const StepMemory first = step_memory(question);
          EXPECT_EQ(most_of(step_bands(question), first), most_of(step_launches(question), first));
        }
      }
    }
  }
}

// Gradients that are cleared by zeros are added to from the first micro-batch on.
TEST(StepMemory, ClearedGradientsTakeATemporary) {
  ActivationQuestion question = step_of(6, false, "none");
  question.width = 1024;
  question.batch = 8;
  question.adds_gradients = true;
  EXPECT_TRUE(step_memory(question).accumulates);
}

// Rows of a micro-batch are few, so that the gradient of a weight is larger than two outputs.
TEST(StepMemory, ALaterMicroBatchHasATemporaryGradientOfAWeight) {
  ActivationQuestion question = step_of(6, false, "none", 2);
  question.width = 1024;
  question.batch = 16;
  const StepMemory step = step_memory(question);
  EXPECT_TRUE(step.accumulates);
  EXPECT_DOUBLE_EQ(step.u, 8 * 1024 * 2);
  EXPECT_DOUBLE_EQ(step.weight_bytes, 1024 * 1024 * 2);
  EXPECT_DOUBLE_EQ(step.activation_bytes(), 16 * 1024 * 2 + 256 + 5 * step.u);
  EXPECT_DOUBLE_EQ(step.temporary_bytes(), step.u + step.weight_bytes + 256);
  question.micro_batches = 1;
  EXPECT_FALSE(step_memory(question).accumulates);
}

TEST(StepMemory, TheInputIsThatOfTheWholeBatchAndTensorsAreRounded) {
  const StepMemory step = step_memory(step_of(4, false, "none", 3));
  EXPECT_DOUBLE_EQ(step.batch_bytes, 3 * kStepOutput + 3 * kStepLoss);
  EXPECT_DOUBLE_EQ(step.loss_bytes, 3 * kStepLoss);
  const StepMemory odd = step_memory({.layers = 1, .width = 1, .batch = 1, .checkpoint = "none"});
  EXPECT_DOUBLE_EQ(odd.u, 256);
  EXPECT_DOUBLE_EQ(odd.batch_bytes, 512);
}

TEST(StepMemory, ExtraPassesAreThoseOfTheWay) {
  EXPECT_DOUBLE_EQ(step_memory(step_of(9, false, "none")).extra_forwards, 0);
  EXPECT_DOUBLE_EQ(step_memory(step_of(9, false, "every:4")).extra_forwards, 1);
  EXPECT_DOUBLE_EQ(step_memory(step_of(9, false, "every:4")).segments, 3);
  EXPECT_DOUBLE_EQ(step_memory(step_of(9, false, "full")).extra_forwards, 4);
  for (const char* const way : {"log", "every:", "every:0", "every:1.5", "every:x"}) {
    EXPECT_THROW((void)step_memory(step_of(9, false, way)), UsageError) << way;
  }
}

}  // namespace
}  // namespace ridgebench
