#include "harness/step/any_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/results/measured_roofs.hpp"
#include "harness/results/suspect.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

template <class Step>
void describe_sizes(StepKind kind, const Step& step, StepRecord& record) {
  record.step = kind;
  record.layers = step.layers;
  record.width = step.width;
  record.batch = step.batch;
  record.format = step.format;
}

void describe_train(const StepPlan& plan, const TrainingStep& step, StepRecord& record) {
  describe_sizes(StepKind::train, step, record);
  record.activation = step.activation;
  record.optimizer = step.optimizer;
  record.master = step.master;
  record.checkpoint = plan.checkpoint;
  record.micro_batches = step.micro_batches;
  record.zero_grad = step.zero_grad;
  record.id = fmt::format("train/{}x{}/{}/{}/{}{}/b:{}/checkpoint:{}/micro_batches:{}/zero_grad:{}",
                          step.layers, step.width, name(step.activation), info(step.format).name,
                          name(step.optimizer), step.master ? "_master" : "", step.batch,
                          plan.checkpoint, step.micro_batches, name(step.zero_grad));
  record.flops_model = step.model_flops();
  record.flops_executed = step.executed_flops();
}

void describe_decode(const DecodeStep& step, StepRecord& record) {
  describe_sizes(StepKind::decode, step, record);
  record.model = step.model;
  record.model_layers = step.model_layers;
  record.context = step.context;
  record.heads = step.heads;
  record.kv_heads = step.kv_heads;
  record.head_dim = step.head_dim;
  record.network_width = step.network_width;
  record.id = fmt::format("decode/{}/layers:{}/b:{}/s:{}/{}", step.model, step.layers, step.batch,
                          step.context, info(step.format).name);
  record.flops_model = record.flops_executed = step.model_flops();
}

template <class T>
const T& given(const std::optional<T>& value, const StepRecord& record, const char* key) {
  if (value) return *value;
  throw UsageError(fmt::format("{}: {} is null; allowed: a value, because step is {}", record.id,
                               key, name(record.step)));
}

StepPlan stated_train(const StepRecord& r) {
  const std::string& checkpoint = given(r.checkpoint, r, "checkpoint");
  return {TrainingStep{.layers = r.layers,
                       .width = r.width,
                       .batch = r.batch,
                       .activation = given(r.activation, r, "activation"),
                       .optimizer = given(r.optimizer, r, "optimizer"),
                       .format = r.format,
                       .master = given(r.master, r, "master"),
                       .checkpoint = parse_checkpointing(checkpoint, r.layers),
                       .micro_batches = given(r.micro_batches, r, "micro_batches"),
                       .zero_grad = given(r.zero_grad, r, "zero_grad")},
          checkpoint};
}

StepPlan stated_decode(const StepRecord& r) {
  return {DecodeStep{.model = given(r.model, r, "model"),
                     .model_layers = given(r.model_layers, r, "model_layers"),
                     .layers = r.layers,
                     .batch = r.batch,
                     .context = given(r.context, r, "context"),
                     .width = r.width,
                     .heads = given(r.heads, r, "heads"),
                     .kv_heads = given(r.kv_heads, r, "kv_heads"),
                     .head_dim = given(r.head_dim, r, "head_dim"),
                     .network_width = given(r.network_width, r, "network_width"),
                     .format = r.format}};
}

}  // namespace

StepProgram program_of(const StepPlan& plan) {
  const auto* const train = std::get_if<TrainingStep>(&plan.step);
  return train != nullptr ? training_program(*train)
                          : decode_program(std::get<DecodeStep>(plan.step));
}

void check_plan(const StepPlan& plan) {
  std::visit([](const auto& step) { check(step); }, plan.step);
}

std::vector<std::string> kinds_of_results(const StepPlan& plan) {
  if (std::holds_alternative<DecodeStep>(plan.step)) return {"output"};
  return {"loss", "gradients", "parameters", "optimizer"};
}

void describe(const StepPlan& plan, StepRecord& record) {
  if (const auto* const train = std::get_if<TrainingStep>(&plan.step)) {
    describe_train(plan, *train, record);
  } else {
    describe_decode(std::get<DecodeStep>(plan.step), record);
  }
  record.peak_predicted_bytes =
      std::visit([](const auto& step) { return predicted_peak_bytes(step); }, plan.step);
}

std::vector<std::int64_t> predicted_live_bytes(const StepPlan& plan) {
  return std::visit([](const auto& step) { return predicted_live_bytes(step); }, plan.step);
}

StepPlan stated_plan(const StepRecord& record) {
  return record.step == StepKind::train ? stated_train(record) : stated_decode(record);
}

void derive_rates(StepRecord& record) {
  if (record.step != StepKind::decode || !record.time_s) return;
  const auto batch = static_cast<double>(record.batch);
  record.tokens_per_s = batch / *record.time_s;
  if (std::ranges::find(record.flags, kServedByCache) == record.flags.end()) {
    record.model_time_s = *record.time_s * static_cast<double>(record.model_layers.value_or(1)) /
                          static_cast<double>(record.layers);
    record.model_tokens_per_s = batch / *record.model_time_s;
  }
  double attention_s = 0;
  for (const StepPart& part : record.parts) {
    if (part.name == "attention") attention_s += part.time_s;
  }
  record.attention_share = attention_s / record.sum_of_operations_s.value_or(0);
}

bool above_roofs(const StepRecord& record) {
  double least_s = 0;
  double alone_s = 0;
  for (const StepPart& part : record.parts) {
    if (part.operation != "matmul" && part.operation != "matvec") continue;
    if (!part.roof_s) return false;
    least_s += *part.roof_s;
    alone_s += part.time_s;
  }
  return record.time_s && least_s > (1 + kSuspectMargin) * std::min(alone_s, *record.time_s);
}

}  // namespace ridgebench
