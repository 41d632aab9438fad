// A training step on a host: every launch against its reference, and what checkpoints and
// micro-batches may change.
#include "harness/step/chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include "harness/device/cpu/device.hpp"
#include "harness/step/reference_step.hpp"
#include "harness/step/training_step.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;

TrainingStep small_step(Activation activation, const std::string& checkpoint,
                        std::int64_t micro_batches = 1) {
  constexpr std::int64_t kLayers = 5;
  return {.layers = kLayers,
          .width = 72,
          .batch = 24,
          .activation = activation,
          .format = Format::fp32,
          .checkpoint = parse_checkpointing(checkpoint, kLayers),
          .micro_batches = micro_batches};
}

class StepOnHost : public RegistryTest {
 protected:
  Chain chain(const TrainingStep& step, const TechniqueRequest& request = naive()) {
    return Chain(device_, training_program(step), request, 7);
  }
  // One technique, so that two chains add in the same order.
  static TechniqueRequest naive() { return {.named = {{"matmul", "naive"}}}; }

  void run(Chain& chain) {
    chain.fill();
    static_cast<void>(device_.time_once(chain.launches()));
  }
  // The gradients of all layers.
  static std::vector<float> gradients(const Chain& chain) {
    std::vector<float> all;
    for (TensorId id = 0; id < chain.program().tensors().size(); ++id) {
      const StepTensor& tensor = chain.program().tensors()[id];
      if (!tensor.name.starts_with('G')) continue;
      const auto* const data = static_cast<const float*>(chain.data(id));
      all.insert(all.end(), data, data + tensor.elements);
    }
    return all;
  }

  CpuDevice device_;
};

TEST_F(StepOnHost, EveryLaunchIsRight) {
  for (const Activation activation : {Activation::relu, Activation::gelu}) {
    for (const char* const checkpoint : {"none", "sqrt", "every:2", "layer", "full"}) {
      for (const std::int64_t parts : {1, 3}) {
        TrainingStep step = small_step(activation, checkpoint, parts);
        for (const Optimizer optimizer :
             {Optimizer::adamw, Optimizer::sgd, Optimizer::momentum, Optimizer::lion}) {
          step.optimizer = optimizer;
          step.zero_grad = optimizer == Optimizer::sgd ? ZeroGrad::fill : ZeroGrad::none;
          Chain one = chain(step);
          const ChainCheck found = one.check(1);
          EXPECT_TRUE(found.passed()) << found.wrong;
          EXPECT_GT(found.error, 0);
          EXPECT_GE(found.tensors, std::ssize(one.program().launches()));
        }
      }
    }
  }
}

TEST_F(StepOnHost, EveryFormatIsRight) {
  for (const Format format : {Format::bf16, Format::fp16}) {
    for (const bool master : {false, true}) {
      TrainingStep step = small_step(Activation::gelu, "sqrt");
      step.format = format;
      step.master = master;
      const ChainCheck found = chain(step).check(1);
      EXPECT_TRUE(found.passed()) << found.wrong;
    }
  }
}

TEST_F(StepOnHost, CheckpointsLeaveTheSameBits) {
  for (const Activation activation : {Activation::relu, Activation::gelu}) {
    Chain plain = chain(small_step(activation, "none"));
    run(plain);
    for (const char* const checkpoint : {"sqrt", "every:2", "every:5", "layer", "full"}) {
      Chain other = chain(small_step(activation, checkpoint));
      run(other);
      EXPECT_EQ(gradients(other), gradients(plain)) << checkpoint;
      EXPECT_EQ(other.checksum("loss"), plain.checksum("loss")) << checkpoint;
      EXPECT_EQ(other.checksum("parameters"), plain.checksum("parameters")) << checkpoint;
    }
  }
}

// The gradients of k micro-batches are those of the mean losses of each, k times the batch's.
TEST_F(StepOnHost, MicroBatchesAddUpToTheBatch) {
  Chain whole = chain(small_step(Activation::gelu, "none"));
  run(whole);
  const std::vector<float> expected = gradients(whole);
  for (const std::int64_t parts : {2, 4, 24}) {
    Chain split = chain(small_step(Activation::gelu, "none", parts));
    run(split);
    const std::vector<float> found = gradients(split);
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double mean = found[i] / static_cast<double>(parts);
      difference += (mean - expected[i]) * (mean - expected[i]);
      norm += static_cast<double>(expected[i]) * expected[i];
    }
    constexpr double kRoundoff = 0x1p-24;
    EXPECT_LE(std::sqrt(difference / norm), 4 * kRoundoff * std::sqrt(parts)) << parts;
  }
}

TEST_F(StepOnHost, LossAndGradientsAreThoseOfTheNetwork) {
  for (const Activation activation : {Activation::relu, Activation::gelu}) {
    for (const char* const checkpoint : {"none", "every:2", "full"}) {
      for (const std::int64_t parts : {3, 5}) {  // of 24 rows
        const TrainingStep step = small_step(activation, checkpoint, parts);
        Chain one = chain(step);
        const auto found = compare_end_to_end(one, step, device_);
        ASSERT_TRUE(found.has_value());
        EXPECT_TRUE(found->passed()) << found->loss_error << " " << found->gradients_error;
        EXPECT_GT(found->loss_error, 0);
      }
    }
  }
}

// The launches at the end of such a step set the gradients to zero: the next step adds to them.
TEST_F(StepOnHost, GradientsAreComparedBeforeTheStepClearsThem) {
  for (const std::int64_t parts : {1, 3}) {
    TrainingStep step = small_step(Activation::relu, "every:2", parts);
    step.zero_grad = ZeroGrad::fill;
    Chain one = chain(step);
    EXPECT_TRUE(one.check(1).passed());
    const auto found = compare_end_to_end(one, step, device_);
    EXPECT_TRUE(found->passed()) << found->gradients_error;
    EXPECT_GT(found->gradients_error, 0);
    run(one);
    EXPECT_THAT(gradients(one), ::testing::Each(0.0F));
  }
}

TEST_F(StepOnHost, AStepThatAddsToItsGradientsBeginsWithZeros) {
  TrainingStep step = small_step(Activation::gelu, "none");
  step.zero_grad = ZeroGrad::fill;
  Chain one = chain(step);
  const auto& tensors = one.program().tensors();
  for (TensorId id = 0; id < tensors.size(); ++id) {
    if (tensors[id].kind != "gradients" || !tensors[id].name.starts_with('G')) continue;
    auto* const data = static_cast<float*>(one.data(id));
    std::fill_n(data, tensors[id].elements, std::numeric_limits<float>::quiet_NaN());
  }
  one.fill();
  EXPECT_THAT(gradients(one), ::testing::Each(0.0F));
}

// Launches share weights, and an arena gives the memory of a tensor to later ones.
TEST_F(StepOnHost, TouchedBytesCountOnce) {
  const TrainingStep step = small_step(Activation::relu, "none");
  const Chain one = chain(step);
  const std::vector<StepLaunch>& launches = one.program().launches();
  std::vector<std::size_t> forward;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].name == "forward") forward.push_back(i);
  }
  const std::int64_t w = 72 * 72 * 4;
  const std::int64_t u = 24 * 72 * 4;
  EXPECT_EQ(one.touched_bytes(std::vector{forward.front()}), w + 2 * u);
  EXPECT_EQ(one.touched_bytes(std::vector{forward.front(), forward.front()}), w + 2 * u);
  // The outputs before the activation take one tensor of memory in turn, or two.
  const std::int64_t all = one.touched_bytes(forward);
  EXPECT_GE(all, 5 * (w + u));
  EXPECT_LE(all, 5 * (w + 2 * u));
}

// Every launch is right on what it meets, and the step is wrong: a tensor was freed too early.
TEST_F(StepOnHost, ATensorThatIsFreedTooEarlyIsFoundEndToEnd) {
  const TrainingStep step = small_step(Activation::gelu, "none");
  const StepProgram program = training_program(step);
  StepProgram early;
  for (const StepEvent& event : program.events()) {
    if (const auto* const allocate = std::get_if<Allocate>(&event)) {
      const TensorId id = early.allocate(program.tensors()[allocate->tensor]);
      ASSERT_EQ(id, allocate->tensor);
    } else if (const auto* const free = std::get_if<Free>(&event)) {
      if (program.tensors()[free->tensor].name != "h2") early.free(free->tensor);
    } else {
      const StepLaunch& launch = program.launches()[std::get<RunLaunch>(event).launch];
      early.launch(launch);
      const bool read_once = launch.name == "forward" && launch.operands.front().second != 0 &&
                             program.tensors()[launch.operands.front().second].name == "h2";
      if (read_once) early.free(launch.operands.front().second);
    }
  }
  Chain one(device_, early, naive(), 7);
  EXPECT_TRUE(one.check(1).passed());
  EXPECT_FALSE(compare_end_to_end(one, step, device_)->passed());
}

TEST_F(StepOnHost, NamedTechniquesAreTakenOrRefused) {
  const TrainingStep step = small_step(Activation::relu, "none");
  Chain named = chain(step, {.named = {{"matmul", "naive"}, {"relu", "naive"}}});
  for (std::size_t i = 0; i < named.launches().size(); ++i) {
    const std::string& operation = named.program().launches()[i].operation;
    if (operation == "matmul" || operation == "relu") {
      EXPECT_EQ(named.implementation(i).technique.name, "naive");
    }
  }
  const StepProgram program = training_program(step);
  const auto refusal = [&](const TechniqueRequest& request) -> std::string {
    try {
      require_techniques(program, request, device_);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({.named = {{"matmul", "fast"}}}), HasSubstr("allowed: "));
  EXPECT_THAT(refusal({.named = {{"gelu", "naive"}}}),
              HasSubstr("the step has no gelu; allowed: "));
  EXPECT_EQ(refusal({.named = {{"matmul", "naive"}}}), "");
}

}  // namespace
}  // namespace ridgebench
