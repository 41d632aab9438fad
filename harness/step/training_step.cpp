#include "harness/step/training_step.hpp"

#include <fmt/format.h>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/error.hpp"
#include "roofline/plan/network.hpp"
#include "roofline/plan/step_memory.hpp"

namespace ridgebench {
namespace {

void require(bool holds, const char* option, std::int64_t value, const std::string& allowed) {
  if (!holds) throw UsageError(fmt::format("{} {}; allowed: {}", option, value, allowed));
}

// Launches of a step at most: of a micro-batch two for each layer forward, the loss, and four for
// each layer backward, with two for each layer that is computed again; then an update and a zero.
double most_launches(const TrainingStep& step) {
  const auto layers = static_cast<double>(step.layers);
  const double again = step.checkpoint.way == Checkpointing::Way::every  ? layers
                       : step.checkpoint.way == Checkpointing::Way::full ? layers * layers / 2
                                                                         : 0;
  return static_cast<double>(step.micro_batches) * (6 * layers + 1 + 2 * again) + 2 * layers;
}

void check_limits(const TrainingStep& step) {
  const auto width = static_cast<double>(step.width);
  const auto rows = static_cast<double>(step.batch);
  if (static_cast<double>(step.layers) * rows * width * width > kLargestStep) {
    throw UsageError(
        fmt::format("--layers {} --batch {} --width {} are too large together; allowed: layers x "
                    "batch x width^2 up to 2^58",
                    step.layers, step.batch, step.width));
  }
  if (const double launches = most_launches(step); launches > kMostStepLaunches) {
    throw UsageError(
        fmt::format("the step has up to {:.0f} launches; allowed: up to {:.0f}, by fewer --layers "
                    "or --micro-batches, or another --checkpoint",
                    launches, kMostStepLaunches));
  }
}

std::string text_of(const Checkpointing& checkpoint) {
  switch (checkpoint.way) {
    case Checkpointing::Way::none:
      return "none";
    case Checkpointing::Way::every:
      return fmt::format("every:{}", checkpoint.layers);
    case Checkpointing::Way::full:
      return "full";
  }
  return "";
}

std::int64_t state_bytes(const TrainingStep& step) {
  const std::int64_t parameters = step.width * step.width;
  const std::int64_t own = rounded_tensor_bytes(parameters * info(step.format).storage_bytes);
  const std::int64_t fp32 = rounded_tensor_bytes(parameters * info(Format::fp32).storage_bytes);
  std::int64_t copies = step.master ? 1 : 0;
  if (step.optimizer != Optimizer::sgd) ++copies;
  if (step.optimizer == Optimizer::adamw) ++copies;
  return step.layers * (2 * own + copies * fp32);
}

ActivationQuestion question_of(const TrainingStep& step) {
  ActivationQuestion question;
  question.layers = static_cast<double>(step.layers);
  question.width = static_cast<double>(step.width);
  question.batch = static_cast<double>(step.batch);
  question.micro_batches = static_cast<double>(step.micro_batches);
  question.pre_activations = step.activation == Activation::gelu;
  question.adds_gradients = step.zero_grad == ZeroGrad::fill;
  question.checkpoint = text_of(step.checkpoint);
  question.format = step.format;
  return question;
}

}  // namespace

std::int64_t predicted_peak_bytes(const TrainingStep& step) {
  const StepMemory memory = step_memory(question_of(step));
  return state_bytes(step) +
         static_cast<std::int64_t>(memory.activation_bytes() + memory.temporary_bytes());
}

std::vector<std::int64_t> predicted_live_bytes(const TrainingStep& step) {
  const ActivationQuestion question = question_of(step);
  const StepMemory memory = step_memory(question);
  const double always =
      static_cast<double>(state_bytes(step)) + memory.batch_bytes + memory.loss_bytes;
  std::vector<std::int64_t> bytes;
  for (const StepBand& launch : step_launches(question)) {
    bytes.push_back(static_cast<std::int64_t>(always + launch.bytes(memory)));
  }
  return bytes;
}

Checkpointing parse_checkpointing(const std::string& text, std::int64_t layers) {
  if (text == "none") return {};
  if (text == "full") return {.way = Checkpointing::Way::full};
  const double length = segment_length(text, static_cast<double>(layers));
  return {.way = Checkpointing::Way::every, .layers = static_cast<std::int64_t>(length)};
}

std::int64_t TrainingStep::rows(std::int64_t part) const {
  const double smaller =
      smaller_micro_batches(static_cast<double>(batch), static_cast<double>(micro_batches));
  return ceil_div(batch, micro_batches) - (static_cast<double>(part) < smaller ? 1 : 0);
}

std::vector<std::int64_t> TrainingStep::segments() const {
  std::vector<std::int64_t> first{0};
  if (checkpoint.way != Checkpointing::Way::every) return first;
  while (first.back() + checkpoint.layers < layers) {
    first.push_back(first.back() + checkpoint.layers);
  }
  return first;
}

double TrainingStep::model_flops() const {
  const auto parameters = static_cast<double>(layers * width * width);
  return 6 * parameters * static_cast<double>(batch);
}

double TrainingStep::executed_flops() const {
  const double product = 2 * static_cast<double>(batch * width * width);
  const auto count = static_cast<double>(layers);
  const double once = (3 * count - 1) * product;
  switch (checkpoint.way) {
    case Checkpointing::Way::none:
      return once;
    case Checkpointing::Way::every:
      return once + count * product;
    case Checkpointing::Way::full:
      return once + count * (count - 1) / 2 * product;
  }
  return once;
}

void check_step_format(Format format, std::string_view of_fp8) {
  if (format == Format::fp32 || format == Format::fp16 || format == Format::bf16) return;
  const bool fp8 = format == Format::fp8_e4m3 || format == Format::fp8_e5m2;
  throw UsageError(fmt::format("--format {}{}{}; allowed: bf16, fp16, fp32", info(format).name,
                               fp8 ? ": " : "", fp8 ? of_fp8 : ""));
}

void check(const TrainingStep& step) {
  require(step.layers >= 1, "--layers", step.layers, "a whole number from 1 on");
  require(step.width >= 1, "--width", step.width, "a whole number from 1 on");
  require(step.batch >= 1, "--batch", step.batch, "a whole number from 1 on");
  require(step.micro_batches >= 1 && step.micro_batches <= step.batch, "--micro-batches",
          step.micro_batches, fmt::format("1 to the batch of {}", step.batch));
  if (step.checkpoint.way == Checkpointing::Way::full && step.layers < 2) {
    throw UsageError("--checkpoint full with --layers 1; allowed: --layers 2 or more");
  }
  check_step_format(
      step.format,
      "products of fp8 have the layout nt only, and the backward pass needs nn and tn");
  if (step.master && step.format == Format::fp32) {
    throw UsageError("--master: fp32 parameters need no fp32 copy; allowed with bf16 and fp16");
  }
  check_limits(step);
}

}  // namespace ridgebench
