#include "roofline/plan/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"
#include "roofline/plan/plan_parts.hpp"

namespace ridgebench {
namespace {

constexpr double kLogitBytes = 4;  // fp32

double as_double(std::int64_t value) { return static_cast<double>(value); }

// Elements that a layer of a transformer keeps for one token. The two halves of the layer keep the
// input of their norm and of their first linear layer.
double attention_elements(const Transformer& model, const Attention& a, double context,
                          bool scores) {
  const double queries = as_double(a.heads * a.head_dim * (a.output_gate ? 2 : 1));
  const double keys = as_double(a.kv_heads * (a.head_dim + a.value_dim));
  const double outputs = as_double(a.heads * a.value_dim);
  const double latent =
      a.latent ? as_double(a.latent->query_rank + a.latent->rank + a.latent->rotated) : 0;
  const double seen = a.window > 0 ? std::min(context, as_double(a.window)) : context;
  const double kept_scores = scores ? as_double(a.heads) * seen : 0;
  return 2 * as_double(model.width) + queries + keys + outputs + latent + kept_scores;
}

// A gated network keeps the outputs of both first products and the input of the last one. Shared
// experts read the same input as the others.
double network_elements(const Transformer& model, const Network& n) {
  const double input = n.prefix == "shared_" ? 0 : 2 * as_double(model.width);
  return input + (n.gated ? 3 : 2) * as_double(n.active * n.width);
}

// Bytes that all layers keep for one token, and that the largest of them keeps.
struct Elements {
  double all = 0;
  double largest = 0;
};

Elements mixing_elements(const Transformer& model, double context, bool scores) {
  Elements kept;
  const auto add = [&](std::int64_t layers, double elements) {
    kept.all += as_double(layers) * elements;
    kept.largest = std::max(kept.largest, elements);
  };
  for (const Attention& a : model.attentions) {
    add(a.layers, attention_elements(model, a, context, scores));
  }
  for (const Recurrence& r : model.recurrences) {
    add(r.layers, 2 * as_double(model.width) + as_double(r.passed));
  }
  return kept;
}

Elements networks_elements(const Transformer& model) {
  Elements kept;
  double dense = 0;
  double experts = 0;
  for (const Network& n : model.networks) {
    const double elements = network_elements(model, n);
    kept.all += as_double(n.layers) * elements;
    if (n.prefix.empty()) {
      dense = std::max(dense, elements);
    } else {
      experts += elements;
    }
  }
  kept.largest = std::max(dense, experts);
  return kept;
}

NetworkBytes transformer_bytes(const ActivationQuestion& q, double rows) {
  const Transformer& model = *q.model;
  const double tokens = rows * q.context.value_or(kDefaultContext);
  const double width = info(q.format).storage_bytes;
  const Elements mixing = mixing_elements(model, q.context.value_or(kDefaultContext), q.scores);
  const Elements networks = networks_elements(model);
  return {.layers = as_double(model.layers),
          .output = tokens * width * as_double(model.width),
          .all_inside = tokens * width * (mixing.all + networks.all),
          .largest_inside = tokens * width * (mixing.largest + networks.largest),
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

double segment_length(std::string_view checkpoint, double layers) {
  constexpr std::string_view kEvery = "every:";
  if (checkpoint == "layer") return 1;
  if (checkpoint == "sqrt") return std::ceil(layers / std::ceil(std::sqrt(layers)));
  const bool every = checkpoint.starts_with(kEvery);
  const double length = every ? parse_number(checkpoint.substr(kEvery.size())).value_or(0) : 0;
  if (length >= 1 && length == std::floor(length)) return std::min(length, layers);
  throw UsageError(
      fmt::format("--checkpoint is '{}'; allowed: {}, or every:K with a whole number of layers, "
                  "such as every:4",
                  checkpoint, join_names(kCheckpoints)));
}

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
  if (checkpoint == "full") {
    some.checkpoints = 1;
    some.recomputed_outputs = 1;
    some.extra_forwards = (network.layers - 1) / 2;
  } else {
    some.recomputed = segment_length(checkpoint, network.layers);
    some.checkpoints = checkpoint == "sqrt" ? std::ceil(std::sqrt(network.layers))
                                            : std::ceil(network.layers / some.recomputed);
    some.recomputed_outputs = some.recomputed - 1;
  }
  // The bytes that recomputed layers keep include their outputs, of which some are checkpoints.
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

double smaller_micro_batches(double batch, double micro_batches) {
  const double larger = std::fmod(batch, micro_batches);
  return larger == 0 ? 0 : micro_batches - larger;
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

std::string context_note(const ActivationQuestion& question) {
  if (!question.model) return "";
  return context_note(*question.model, question.context.value_or(kDefaultContext));
}

}  // namespace ridgebench
