#include "roofline/plan/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"
#include "roofline/plan/plan_parts.hpp"

namespace ridgebench {
namespace {

constexpr double kDefaultContext = 4096;
constexpr double kLogitBytes = 4;  // fp32

double as_double(std::int64_t value) { return static_cast<double>(value); }

// Elements that a layer of a transformer keeps for one token. The two halves of the layer keep the
// input of their norm and of their first linear layer.
double attention_elements(const Transformer& model, double context, bool scores) {
  const double heads = as_double(model.heads * model.head_dim);
  const double keys = as_double(model.kv_heads * model.head_dim);
  const double kept_scores = scores ? as_double(model.heads) * context : 0;
  return 2 * as_double(model.width) + heads + 2 * keys + heads + kept_scores;
}

// A gated network keeps the outputs of both first products and the input of the last one.
double feed_forward_elements(const Transformer& model, double width) {
  return 2 * as_double(model.width) + (model.gated ? 3 : 2) * width;
}

NetworkBytes transformer_bytes(const ActivationQuestion& q, double rows) {
  const Transformer& model = *q.model;
  const double context = q.context.value_or(kDefaultContext);
  const double tokens = rows * context;
  const double width = info(q.format).storage_bytes;
  const double attention = attention_elements(model, context, q.scores);
  const auto& experts = model.experts;
  const double expert_layers = experts ? as_double(experts->layers) : 0;
  const double expert_width =
      experts ? as_double(experts->active * experts->width + experts->shared_width) : 0;
  const double dense = attention + feed_forward_elements(model, as_double(model.feed_forward));
  const double expert = attention + feed_forward_elements(model, expert_width);
  const double dense_layers = as_double(model.layers) - expert_layers;
  const double largest = std::max(dense_layers > 0 ? dense : 0, expert_layers > 0 ? expert : 0);
  return {.layers = as_double(model.layers),
          .output = tokens * width * as_double(model.width),
          .all_inside = tokens * width * (dense_layers * dense + expert_layers * expert),
          .largest_inside = tokens * width * largest,
          .head = tokens *
                  (2 * width * as_double(model.width) + kLogitBytes * as_double(model.vocabulary))};
}

void check_plain(const ActivationQuestion& q) {
  if (!q.layers || !q.width) {
    throw UsageError("plan: give the layers once; allowed: --layers with --width, or --model");
  }
  whole("--layers", *q.layers);
  whole("--width", *q.width);
  if (q.context || q.scores) {
    throw UsageError("plan: --context and --scores belong to the attention of a --model");
  }
}

void check_model(const ActivationQuestion& q) {
  if (q.layers || q.width || q.pre_activations) {
    throw UsageError(
        "plan: --model has layers of its own; leave out --layers, --width and "
        "--pre-activations");
  }
  whole("--context", q.context.value_or(kDefaultContext));
}

}  // namespace

NetworkBytes network_bytes(const ActivationQuestion& question, double rows) {
  if (question.model) return transformer_bytes(question, rows);
  const double output = info(question.format).storage_bytes * rows * question.width.value_or(0);
  const double inside = (question.pre_activations ? 2 : 1) * output;
  const double layers = question.layers.value_or(0);
  return {layers, output, layers * inside, inside};
}

Kept kept_bytes(const NetworkBytes& network, std::string_view checkpoint) {
  const Kept all{.bytes = network.all_inside + network.head};
  if (checkpoint == "none") return all;
  Kept some{.recomputed = 1, .extra_forwards = 1};
  if (checkpoint == "layer") {
    some.checkpoints = network.layers;
  } else if (checkpoint == "sqrt") {
    some.checkpoints = std::ceil(std::sqrt(network.layers));
    some.recomputed = std::ceil(network.layers / some.checkpoints);
    some.recomputed_outputs = some.recomputed - 1;
  } else if (checkpoint == "full") {
    some.checkpoints = 1;
    some.recomputed_outputs = 1;
    some.extra_forwards = (network.layers - 1) / 2;
  } else {
    throw UsageError(
        fmt::format("--checkpoint is '{}'; allowed: {}", checkpoint, join_names(kCheckpoints)));
  }
  // What recomputed layers keep includes their outputs, of which some are checkpoints.
  const double counted_twice = some.recomputed - some.recomputed_outputs;
  some.bytes = (some.checkpoints - counted_twice) * network.output +
               some.recomputed * network.largest_inside + network.head;
  return some.bytes < all.bytes ? some : all;
}

ActivationQuestion checked(ActivationQuestion question) {
  if (question.model) {
    check_model(question);
    question.context = question.context.value_or(kDefaultContext);
  } else {
    check_plain(question);
  }
  whole("--batch", question.batch);
  if (whole("--micro-batches", question.micro_batches) > question.batch) {
    throw UsageError(fmt::format("--micro-batches is {:g}; allowed: at most the batch, {:g}",
                                 question.micro_batches, question.batch));
  }
  return question;
}

double micro_batch_rows(const ActivationQuestion& question) {
  return std::ceil(question.batch / question.micro_batches);
}

PlanAnswer activation_inputs(const ActivationQuestion& q) {
  PlanAnswer inputs = PlanAnswer::object();
  if (q.model) inputs["model"] = q.model->name;
  set_if(inputs, "layers", q.layers);
  set_if(inputs, "width", q.width);
  set_if(inputs, "context", q.context);
  inputs.update({{"batch", q.batch}, {"micro_batches", q.micro_batches}});
  if (q.model) {
    inputs["scores"] = q.scores;
  } else {
    inputs["pre_activations"] = q.pre_activations;
  }
  inputs.update({{"checkpoint", q.checkpoint}, {"format", info(q.format).name}});
  return inputs;
}

PlanAnswer activation_terms(const ActivationQuestion& question, const NetworkBytes& network,
                            const Kept& kept) {
  PlanAnswer terms = PlanAnswer::array();
  terms.push_back(term("rows of the largest micro-batch", micro_batch_rows(question), "1"));
  const bool recomputes = kept.recomputed > 0;
  if (question.model) {
    terms.push_back(term("tokens of it, rows x context",
                         micro_batch_rows(question) * question.context.value_or(0), "1"));
    terms.push_back(term("one layer's output", network.output, "byte"));
    terms.push_back(term("what the largest layer keeps", network.largest_inside, "byte"));
    terms.push_back(term("logits in fp32 and the last norm", network.head, "byte"));
  } else {
    terms.push_back(term("one layer's output, rows x width", network.output, "byte"));
  }
  if (recomputes) {
    terms.push_back(term("checkpoints, which stay", kept.checkpoints, "1"));
    terms.push_back(question.model
                        ? term("layers recomputed at once", kept.recomputed, "1")
                        : term("outputs recomputed in one segment", kept.recomputed_outputs, "1"));
  }
  if (!question.model) {
    const double outputs = recomputes ? kept.checkpoints + kept.recomputed_outputs : network.layers;
    const double alive = recomputes ? kept.recomputed : network.layers;
    terms.push_back(term("outputs alive at once", outputs, "1"));
    terms.push_back(
        term("pre-activations alive at once", question.pre_activations ? alive : 0, "1"));
  }
  terms.push_back(term("extra forward passes", kept.extra_forwards, "1"));
  return terms;
}

}  // namespace ridgebench
