// One measured step as step.jsonl holds it, and the list of its keys.
// results/schema/step.schema.json describes the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/key.hpp"
#include "harness/results/record.hpp"
#include "harness/results/step_rows.hpp"
#include "harness/step/training_step.hpp"

namespace ridgebench {

struct StepMoment {
  std::int64_t launch = 0;
  std::string phase;
  nlohmann::ordered_json live = nlohmann::ordered_json::object();
  std::optional<std::int64_t> predicted_bytes = std::nullopt;
};

struct StepCheck {
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
  double error = 0;
  std::optional<bool> repeated = std::nullopt;
  std::optional<double> loss_error = std::nullopt;
  std::optional<double> gradients_error = std::nullopt;
};

struct StepRecord {
  std::string id;
  StepKind step = StepKind::train;
  std::string device;
  Backend backend = Backend::cpu;
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t batch = 0;
  Format format = Format::fp32;
  // Null in a decode step.
  std::optional<Activation> activation = std::nullopt;
  std::optional<Optimizer> optimizer = std::nullopt;
  std::optional<bool> master = std::nullopt;
  std::optional<std::string> checkpoint = std::nullopt;
  std::optional<std::int64_t> micro_batches = std::nullopt;
  std::optional<ZeroGrad> zero_grad = std::nullopt;
  // Null in a training step.
  std::optional<std::string> model = std::nullopt;
  std::optional<std::int64_t> model_layers = std::nullopt;
  std::optional<std::int64_t> context = std::nullopt;
  std::optional<std::int64_t> heads = std::nullopt;
  std::optional<std::int64_t> kv_heads = std::nullopt;
  std::optional<std::int64_t> head_dim = std::nullopt;
  std::optional<std::int64_t> network_width = std::nullopt;
  nlohmann::ordered_json techniques = nlohmann::ordered_json::object();
  std::uint64_t seed = 0;
  Status status = Status::skipped;
  std::optional<std::string> reason = std::nullopt;
  std::optional<double> time_s = std::nullopt;
  std::optional<double> ci_low_s = std::nullopt;
  std::optional<double> ci_high_s = std::nullopt;
  std::vector<double> samples_s = {};
  std::vector<StepPart> parts = {};
  std::vector<StepCeiling> ceilings = {};
  std::optional<double> sum_of_operations_s = std::nullopt;
  std::optional<double> sum_of_roofs_s = std::nullopt;
  std::optional<double> sheet_s = std::nullopt;
  std::optional<double> launch_gap_s = std::nullopt;
  std::optional<double> unexplained_s = std::nullopt;
  std::optional<double> attention_share = std::nullopt;
  std::optional<double> tokens_per_s = std::nullopt;
  std::optional<double> model_time_s = std::nullopt;
  std::optional<double> model_tokens_per_s = std::nullopt;
  double flops_model = 0;
  double flops_executed = 0;
  std::optional<double> mfu = std::nullopt;
  std::optional<double> hfu = std::nullopt;
  std::int64_t peak_bytes = 0;
  std::int64_t peak_predicted_bytes = 0;
  std::int64_t arena_bytes = 0;
  std::optional<std::int64_t> memory_growth_bytes = std::nullopt;
  std::vector<StepMoment> timeline = {};
  std::optional<StepCheck> verify = std::nullopt;
  std::vector<std::string> flags = {};
};

inline constexpr Bounds kModelSize{.low = 1, .high = 1 << 20};

// clang-format off
inline constexpr KeyList kStepMomentKeys{
    Key{"launch", &StepMoment::launch, "", "number of the launch", kCount},
    Key{"phase", &StepMoment::phase, "", "of that launch"},
    Key{"live", &StepMoment::live, "byte", "what lives while it runs, by kind: parameters, gradients, optimizer, input, activations, activation_gradients, loss, cache, output"},
    Key{"predicted_bytes", &StepMoment::predicted_bytes, "byte", "sum of `live` by the closed form of the launch's layer", kPositive, Absence::not_in_oldest},
};
inline constexpr KeyList kStepCheckKeys{
    Key{"tensors", &StepCheck::tensors, "", "outputs of launches that were compared with the reference of their operation, on the inputs that the launch met", kCount},
    Key{"elements", &StepCheck::elements, "", "of them", kCount},
    Key{"error", &StepCheck::error, "", "largest error over the tolerance of its element", kNotNegative},
    Key{"repeated", &StepCheck::repeated, "", "after the timing, the chain leaves the bits of the results that the checked launches left; null if a technique's order of additions may differ"},
    Key{"loss_error", &StepCheck::loss_error, "", "of the loss against a step in fp64, relative, by the Frobenius norm; null if that takes more than 2^34 FLOPs, and of decode", kNotNegative},
    Key{"gradients_error", &StepCheck::gradients_error, "", "of all gradients, likewise", kNotNegative},
};
inline constexpr KeyList kStepKeys{
    Key{"id", &StepRecord::id, "", "step, sizes and choices, and the device"},
    Key{"step", &StepRecord::step, "", "kind of step"},
    Key{"device", &StepRecord::device, "", "name of a device in `environment.json`"},
    Key{"backend", &StepRecord::backend, "", "kind of device"},
    Key{"layers", &StepRecord::layers, "", "that the step computes", {.low = 1}},
    Key{"width", &StepRecord::width, "", "inputs and outputs of a layer; decode: of the residual stream", {.low = 1, .high = kLargestSize}},
    Key{"batch", &StepRecord::batch, "", "rows; decode: sequences", {.low = 1, .high = kLargestSize}},
    Key{"format", &StepRecord::format, "", "of parameters, gradients, activations and cache"},
    Key{"activation", &StepRecord::activation, "", "train: the nonlinearity; null of decode, as the next five"},
    Key{"optimizer", &StepRecord::optimizer, "", "train: its states are in fp32"},
    Key{"master", &StepRecord::master, "", "train: the optimizer updates a copy of the parameters in fp32"},
    Key{"checkpoint", &StepRecord::checkpoint, "", "train: the value of --checkpoint"},
    Key{"micro_batches", &StepRecord::micro_batches, "", "train: parts of the batch, one after the other", {.low = 1, .high = kLargestSize}},
    Key{"zero_grad", &StepRecord::zero_grad, "", "train: how the gradients are cleared"},
    Key{"model", &StepRecord::model, "", "decode: a built-in model, or the `model_type` and the sizes of a config.json; null of train, as the next six"},
    Key{"model_layers", &StepRecord::model_layers, "", "decode: of the whole model", kModelSize},
    Key{"context", &StepRecord::context, "", "decode: tokens of a sequence in the cache", {.low = 1, .high = kLargestSize}},
    Key{"heads", &StepRecord::heads, "", "decode: of queries", kModelSize},
    Key{"kv_heads", &StepRecord::kv_heads, "", "decode: of keys and values", kModelSize},
    Key{"head_dim", &StepRecord::head_dim, "", "decode: elements of a head", kModelSize},
    Key{"network_width", &StepRecord::network_width, "", "decode: outputs of gate, and of up", kModelSize},
    Key{"techniques", &StepRecord::techniques, "", "technique of each operation and shape"},
    Key{"seed", &StepRecord::seed, "", "of the values"},
    Key{"status", &StepRecord::status, "", "only an ok step has a time"},
    Key{"reason", &StepRecord::reason, "", "why it is not ok"},
    Key{"time_s", &StepRecord::time_s, "s", "median of the samples", kPositive},
    Key{"ci_low_s", &StepRecord::ci_low_s, "s", "lower end of the 95 % interval of the median", kPositive},
    Key{"ci_high_s", &StepRecord::ci_high_s, "s", "upper end of that interval", kPositive},
    Key{"samples_s", &StepRecord::samples_s, "s", "of a step, in the order measured", kPositive},
    Key{"parts", &StepRecord::parts, "", "in the order of the step"},
    Key{"ceilings", &StepRecord::ceilings, "", "the measured roofs: the rates of the ceilings that judge the parts"},
    Key{"sum_of_operations_s", &StepRecord::sum_of_operations_s, "s", "of the times of the parts", kPositive},
    Key{"sum_of_roofs_s", &StepRecord::sum_of_roofs_s, "s", "of the least times of the parts by the measured roofs", kPositive},
    Key{"sheet_s", &StepRecord::sheet_s, "s", "of their least times by the data sheet", kPositive},
    Key{"launch_gap_s", &StepRecord::launch_gap_s, "s", "what the launches add if the host starts each by itself: launches x launch floor", kNotNegative},
    Key{"unexplained_s", &StepRecord::unexplained_s, "s", "time_s less sum_of_operations_s", Bounds{-1e300, 1e300}},
    Key{"attention_share", &StepRecord::attention_share, "", "decode: of the part `attention` in sum_of_operations_s; null of train, as the next three", kNotNegative},
    Key{"tokens_per_s", &StepRecord::tokens_per_s, "1/s", "decode: batch / time_s, of the layers that the step computes", kPositive},
    Key{"model_time_s", &StepRecord::model_time_s, "s", "decode, scaled and not measured: time_s x model_layers / layers; without embedding, last norm and lm_head; null if caches can serve the layers", kPositive},
    Key{"model_tokens_per_s", &StepRecord::model_tokens_per_s, "1/s", "decode, scaled and not measured: batch / model_time_s", kPositive},
    Key{"flops_model", &StepRecord::flops_model, "FLOP", "train: 6 x parameters x rows; decode: 2 x parameters x rows, and the two products of attention", kPositive},
    Key{"flops_executed", &StepRecord::flops_executed, "FLOP", "of all products that the step executes, including the two of attention", kPositive},
    Key{"mfu", &StepRecord::mfu, "", "flops_model / (time_s x dense peak of the data sheet); null without a data sheet", kNotNegative},
    Key{"hfu", &StepRecord::hfu, "", "flops_executed / (time_s x that peak)", kNotNegative},
    Key{"peak_bytes", &StepRecord::peak_bytes, "byte", "the most that lived at once, counted where the step allocates", kPositive},
    Key{"peak_predicted_bytes", &StepRecord::peak_predicted_bytes, "byte", "the same by the closed form", kPositive},
    Key{"arena_bytes", &StepRecord::arena_bytes, "byte", "of the one allocation that holds them, gaps included", kPositive},
    Key{"memory_growth_bytes", &StepRecord::memory_growth_bytes, "byte", "by which the memory in use of the process, or of the GPU, grew from before the allocation to the end of the first step; null where unreadable", Bounds{-1e300, 1e300}},
    Key{"timeline", &StepRecord::timeline, "", "live bytes at each launch"},
    Key{"verify", &StepRecord::verify, "", "null if nothing was checked"},
    Key{"flags", &StepRecord::flags, "", "remarks, as of a row: `above_roof` (its products are faster than their measured roofs: caches served them, or another process slowed a ceiling), `served_by_cache`"},
};
// clang-format on
constexpr const auto& keys_of(const StepMoment*) { return kStepMomentKeys; }
constexpr const auto& keys_of(const StepCheck*) { return kStepCheckKeys; }
constexpr const auto& keys_of(const StepRecord*) { return kStepKeys; }

nlohmann::ordered_json to_json(const StepRecord& record);
// Reads every line of a folder's step.jsonl. Throws UsageError.
std::vector<StepRecord> read_steps(const std::filesystem::path& directory);

}  // namespace ridgebench
