#include "harness/step/decode_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/step/training_step.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/plan/step_memory.hpp"

namespace ridgebench {
namespace {

constexpr double kLaunchesOfLayer = 15;

void require_at_least_1(const char* what, std::int64_t value) {
  if (value >= 1) return;
  throw UsageError(fmt::format("{} {}; allowed: a whole number from 1 on", what, value));
}

void check_decode_limits(const DecodeStep& step) {
  const double cached = static_cast<double>(step.batch) * static_cast<double>(step.context) *
                        static_cast<double>(step.kv_heads * step.head_dim);
  const double elements = static_cast<double>(step.layers) * cached;
  if (step.model_flops() > kLargestStep || elements > kLargestStep) {
    throw UsageError(
        fmt::format("--layers {} --batch {} --context {} are too large together; allowed: up to "
                    "2^58 FLOPs, and as many elements of keys",
                    step.layers, step.batch, step.context));
  }
  if (const double launches = kLaunchesOfLayer * static_cast<double>(step.layers);
      launches > kMostStepLaunches) {
    throw UsageError(
        fmt::format("the step has {:.0f} launches; allowed: up to {:.0f}, by fewer --layers",
                    launches, kMostStepLaunches));
  }
}

// The sizes that an operation refuses come from the config.
void check_heads(const DecodeStep& step) {
  const auto try_shape = [&](const char* operation, const std::string& shape) {
    try {
      static_cast<void>(parse_shape(shape, Registry::instance().operation(operation)));
    } catch (const UsageError& reason) {
      throw UsageError(fmt::format(
          "{}: head_dim is {}, num_attention_heads is {}, num_key_value_heads is {}: {}",
          step.model, step.head_dim, step.heads, step.kv_heads, reason.what()));
    }
  };
  try_shape("rope", fmt::format("b:1/s:{}/h:{}/d:{}", step.batch, step.heads, step.head_dim));
  try_shape("attention_decode", fmt::format("b:{}/h:{}/kv:{}/s:{}/d:{}", step.batch, step.heads,
                                            step.kv_heads, step.context, step.head_dim));
}

}  // namespace

double DecodeStep::parameters() const {
  const auto d = static_cast<double>(width);
  const auto queries = static_cast<double>(heads * head_dim);
  const auto keys = static_cast<double>(kv_heads * head_dim);
  const auto network = static_cast<double>(network_width);
  return static_cast<double>(layers) * d * (2 * queries + 2 * keys + 3 * network);
}

double DecodeStep::model_flops() const {
  const auto rows = static_cast<double>(batch);
  const double attention = 4 * static_cast<double>(heads * head_dim) * static_cast<double>(context);
  return rows * (2 * parameters() + static_cast<double>(layers) * attention);
}

DecodeStep decode_step(const Transformer& model) {
  if (!model.not_plain.empty()) {
    throw UsageError("step decode runs layers of RMSNorm, attention and SwiGLU: " +
                     model.not_plain);
  }
  if (model.weights.any()) {
    throw UsageError(
        fmt::format("{}: its weights are stored in {}; allowed: a model without "
                    "stored formats",
                    model.name, model.weights.name()));
  }
  const Attention& attention = model.attentions.front();
  return {.model = model.name,
          .model_layers = model.layers,
          .width = model.width,
          .heads = attention.heads,
          .kv_heads = attention.kv_heads,
          .head_dim = attention.head_dim,
          .network_width = model.networks.front().width};
}

std::string recorded_name(const Transformer& model) {
  if (model.built_in) return model.name;
  const DecodeStep step = decode_step(model);
  return fmt::format("{}-{}x{}-heads:{}-kv:{}-d:{}-network:{}", model.type, step.model_layers,
                     step.width, step.heads, step.kv_heads, step.head_dim, step.network_width);
}

void check(const DecodeStep& step) {
  if (step.layers < 1 || step.layers > step.model_layers) {
    throw UsageError(fmt::format("--layers {}; allowed: 1 to {}, the layers of {}", step.layers,
                                 step.model_layers, step.model));
  }
  require_at_least_1("--batch", step.batch);
  require_at_least_1("--context", step.context);
  require_at_least_1("width", step.width);
  require_at_least_1("heads", step.heads);
  require_at_least_1("kv_heads", step.kv_heads);
  require_at_least_1("head_dim", step.head_dim);
  require_at_least_1("network_width", step.network_width);
  check_step_format(step.format, "norms, rotations and attention have no fp8");
  check_decode_limits(step);
  check_heads(step);
}

std::vector<std::int64_t> predicted_live_bytes(const DecodeStep& step) {
  const std::int64_t size = info(step.format).storage_bytes;
  const auto bytes = [&](std::int64_t elements) { return rounded_tensor_bytes(elements * size); };
  const std::int64_t queries = step.heads * step.head_dim;
  const std::int64_t keys = step.kv_heads * step.head_dim;
  const std::int64_t weights = 2 * bytes(step.width) + 2 * bytes(step.width * queries) +
                               2 * bytes(step.width * keys) +
                               3 * bytes(step.width * step.network_width);
  const std::int64_t cache = 2 * bytes(step.batch * keys * step.context);
  const std::int64_t angles =
      rounded_tensor_bytes(step.batch * step.head_dim * info(Format::fp32).storage_bytes);
  const std::int64_t u = bytes(step.batch * step.width);
  const std::int64_t q = bytes(step.batch * queries);
  const std::int64_t k = bytes(step.batch * keys);
  const std::int64_t f = bytes(step.batch * step.network_width);
  std::vector<std::int64_t> live;
  for (std::int64_t l = 0; l < step.layers; ++l) {
    const std::int64_t e = l > 0 ? u : 0;  // the first layer's input is counted below
    const std::int64_t always = step.layers * (weights + cache) + u + angles + l * 2 * k;
    const std::int64_t done = always + 2 * k;  // with the layer's new keys and values
    // norm, q, k, v, rope q, rope k, attention, o, add; norm, gate, up, swiglu, down, add
    live.insert(live.end(),
                {always + e + u, always + e + u + q, always + e + u + q + k, done + e + u + q,
                 done + e + 2 * q, done + e + q + k, done + e + 2 * q, done + e + q + u,
                 done + e + 2 * u, done + 2 * u, done + 2 * u + f, done + 2 * u + 2 * f,
                 done + u + 3 * f, done + 2 * u + f, done + 3 * u});
  }
  return live;
}

std::int64_t predicted_peak_bytes(const DecodeStep& step) {
  return std::ranges::max(predicted_live_bytes(step));
}

}  // namespace ridgebench
