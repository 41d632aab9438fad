// The lifetimes of a training step's tensors against the closed forms of its peak memory.
#include "harness/step/training_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/step/arena.hpp"
#include "kernels/common/error.hpp"
#include "tests/harness/step/run_through.hpp"

namespace ridgebench {
namespace {

using Way = Checkpointing::Way;

TrainingStep step_of(std::int64_t layers, Activation activation, Checkpointing checkpoint,
                     std::int64_t micro_batches = 1) {
  return {.layers = layers,
          .width = 64,
          .batch = 48,
          .activation = activation,
          .optimizer = Optimizer::adamw,
          .format = Format::fp32,
          .checkpoint = checkpoint,
          .micro_batches = micro_batches};
}

std::int64_t rounded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

// The closed forms: F, and F' of the moment when a temporary gradient of a layer's parameters is
// added, in tensors of a micro-batch's rows.
struct Tensors {
  std::int64_t alone;
  std::int64_t with_temporary;
};

Tensors tensors_of(const TrainingStep& step) {
  const bool relu = step.activation == Activation::relu;
  const std::int64_t layers = step.layers;
  if (step.checkpoint.way == Way::none) {
    return relu ? Tensors{layers + 3, layers} : Tensors{2 * layers + 2, 2 * layers - 1};
  }
  if (step.checkpoint.way == Way::full) return {5, 2};
  const std::vector<std::int64_t> first = step.segments();
  const auto segments = static_cast<std::int64_t>(first.size());
  Tensors most{relu ? 0 : segments + 2, 0};
  for (std::int64_t s = 0; s < segments; ++s) {
    const std::int64_t n = (s + 1 < segments ? first[s + 1] : layers) - first[s];
    most.alone = std::max(most.alone, relu ? s + n + 3 : s + 2 * n + 2);
    most.with_temporary = std::max(most.with_temporary, relu ? s + n : s + 2 * n - 1);
  }
  return most;
}

std::int64_t predicted_peak(const TrainingStep& step) {
  const std::int64_t size = info(step.format).storage_bytes;
  const std::int64_t square = rounded(step.width * step.width * size);
  const std::int64_t rows = (step.batch + step.micro_batches - 1) / step.micro_batches;
  const std::int64_t u = rounded(rows * step.width * size);
  const Tensors count = tensors_of(step);
  std::int64_t activations = count.alone * u;
  if (step.micro_batches > 1 || step.zero_grad == ZeroGrad::fill) {
    activations = std::max(activations, (count.with_temporary + 1) * u + square);
  }
  const std::int64_t state = rounded(step.width * step.width * 4);
  std::int64_t of_a_layer = 2 * square + (step.master ? state : 0);
  if (step.optimizer == Optimizer::adamw) of_a_layer += 2 * state;
  if (step.optimizer == Optimizer::momentum || step.optimizer == Optimizer::lion) {
    of_a_layer += state;
  }
  return step.layers * of_a_layer + rounded(step.batch * step.width * size) +
         2 * rounded(step.batch * 4) + activations - u;
}

std::vector<Checkpointing> ways(std::int64_t layers) {
  std::vector<Checkpointing> all{{}};
  if (layers > 1) all.push_back({.way = Way::full});
  for (std::int64_t k = 1; k <= layers; ++k) all.push_back({.way = Way::every, .layers = k});
  return all;
}

TEST(TrainingStep, TheLaunchesAndTheirPeakAreTheClosedForm) {
  for (std::int64_t layers = 1; layers <= 11; ++layers) {
    for (const Checkpointing& way : ways(layers)) {
      for (const Activation activation : {Activation::relu, Activation::gelu}) {
        for (const std::int64_t parts : {1, 3, 7, 32}) {
          for (const ZeroGrad zero : {ZeroGrad::none, ZeroGrad::fill}) {
            TrainingStep step = step_of(layers, activation, way, parts);
            step.zero_grad = zero;
            check(step);
            const StepProgram program = training_program(step);
            const Arena arena = run_through(program);
            EXPECT_EQ(predicted_live_bytes(step), live_at_launches(program));
            EXPECT_EQ(arena.live().at("activations"), 0);
            EXPECT_EQ(arena.live().at("activation_gradients"), 0);
            EXPECT_EQ(predicted_peak_bytes(step), predicted_peak(step));
            EXPECT_EQ(arena.peak_bytes(), predicted_peak(step))
                << layers << " layers, " << name(activation) << ", way "
                << static_cast<int>(way.way) << " of " << way.layers << ", " << parts << " parts";
          }
        }
      }
    }
  }
}

TEST(TrainingStep, MicroBatchesDifferByARowAtMostAndTheLastIsTheLargest) {
  for (std::int64_t batch = 1; batch <= 12; ++batch) {
    for (std::int64_t parts = 1; parts <= batch; ++parts) {
      TrainingStep step = step_of(2, Activation::relu, {}, parts);
      step.batch = batch;
      std::int64_t rows = 0;
      for (std::int64_t part = 0; part < parts; ++part) {
        EXPECT_GE(step.rows(part), batch / parts);
        EXPECT_LE(step.rows(part), step.rows(parts - 1));
        rows += step.rows(part);
      }
      EXPECT_EQ(rows, batch);
      EXPECT_EQ(step.rows(parts - 1), (batch + parts - 1) / parts);
    }
  }
}

TEST(TrainingStep, StateFollowsTheOptimizerAndTheFormat) {
  for (const Optimizer optimizer :
       {Optimizer::adamw, Optimizer::sgd, Optimizer::momentum, Optimizer::lion}) {
    for (const bool master : {false, true}) {
      TrainingStep step = step_of(3, Activation::gelu, {});
      step.optimizer = optimizer;
      step.format = Format::bf16;
      step.master = master;
      EXPECT_EQ(run_through(training_program(step)).peak_bytes(), predicted_peak(step));
    }
  }
}

TEST(TrainingStep, ExecutesTheProductsOfItsFormula) {
  for (std::int64_t layers = 1; layers <= 9; ++layers) {
    for (const Checkpointing& way : ways(layers)) {
      for (const std::int64_t parts : {2, 5}) {
        const TrainingStep step = step_of(layers, Activation::relu, way, parts);
        const StepProgram program = training_program(step);
        double flops = 0;
        for (const StepLaunch& launch : program.launches()) {
          if (launch.operation != "matmul") continue;
          flops += 2 * static_cast<double>(launch.shape["m"]) *
                   static_cast<double>(launch.shape["n"]) * static_cast<double>(launch.shape["k"]);
        }
        EXPECT_EQ(flops, step.executed_flops());
        EXPECT_EQ(program.count("adamw"), layers);
        EXPECT_EQ(program.count("add"), layers * (parts - 1)) << "the second micro-batch adds";
      }
    }
  }
}

// 8 layers with checkpoints of every third output: (8 * 8 - 2) / (6 * 8 - 2) = 1.348.
TEST(TrainingStep, SqrtCostsAForwardPass) {
  TrainingStep step = step_of(8, Activation::relu, {});
  const double plain = step.executed_flops();
  step.checkpoint = parse_checkpointing("sqrt", 8);
  EXPECT_EQ(step.checkpoint.layers, 3);
  EXPECT_NEAR(step.executed_flops() / plain, 1.348, 0.0005);
}

TEST(TrainingStep, ReadsTheWaysOfCheckpointing) {
  EXPECT_EQ(parse_checkpointing("none", 8).way, Way::none);
  EXPECT_EQ(parse_checkpointing("full", 8).way, Way::full);
  EXPECT_EQ(parse_checkpointing("layer", 8).layers, 1);
  EXPECT_EQ(parse_checkpointing("every:8", 8).layers, 8);
  EXPECT_EQ(parse_checkpointing("every:9", 8).layers, 8) << "one segment";
  for (const char* const text : {"every:0", "every:", "every:2x", "all", ""}) {
    EXPECT_THROW(static_cast<void>(parse_checkpointing(text, 8)), UsageError) << text;
  }
}

TEST(TrainingStep, RefusesWhatItCannotRun) {
  const auto refused = [](auto change) {
    TrainingStep step = step_of(4, Activation::relu, {});
    change(step);
    EXPECT_THROW(check(step), UsageError);
  };
  refused([](TrainingStep& s) { s.layers = 0; });
  refused([](TrainingStep& s) { s.width = 0; });
  refused([](TrainingStep& s) { s.batch = 0; });
  refused([](TrainingStep& s) { s.micro_batches = 49; });
  refused([](TrainingStep& s) { s.micro_batches = 0; });
  refused([](TrainingStep& s) { s.format = Format::fp8_e4m3; });
  refused([](TrainingStep& s) { s.format = Format::tf32; });
  refused([](TrainingStep& s) { s.master = true; });
  refused([](TrainingStep& s) { s.width = std::int64_t{1} << 30U; });
  refused([](TrainingStep& s) { s.layers = 20000; });
  refused([](TrainingStep& s) { s.batch = s.micro_batches = 1'000'000; });
  refused([](TrainingStep& s) {
    s.layers = 1;
    s.checkpoint.way = Way::full;
  });
}

TEST(Arena, FillsTheFirstGapThatIsLargeEnough) {
  Arena arena;
  EXPECT_EQ(arena.allocate(1, "a"), 0);
  EXPECT_EQ(arena.allocate(513, "b"), 256);
  EXPECT_EQ(arena.allocate(256, "a"), 1024);
  arena.release(256);
  EXPECT_EQ(arena.live_bytes(), 512);
  EXPECT_EQ(arena.allocate(1024, "b"), 1280) << "the gap has 768 bytes";
  EXPECT_EQ(arena.allocate(768, "b"), 256);
  EXPECT_EQ(arena.peak_bytes(), 2304);
  EXPECT_EQ(arena.extent_bytes(), 2304);
  EXPECT_EQ(arena.live().at("b"), 1792);
  EXPECT_THROW(arena.release(512), std::logic_error);
  EXPECT_THROW(arena.allocate(0, "a"), std::logic_error);
}

}  // namespace
}  // namespace ridgebench
