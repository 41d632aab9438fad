#include "roofline/transformer/prediction_notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "roofline/plan/plan_parts.hpp"
#include "roofline/plan/state.hpp"
#include "roofline/transformer/operations.hpp"
#include "roofline/transformer/tensor_parallel.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// "attention", "recurrent states", or both.
std::string mixers_of(const Transformer& model) {
  if (model.recurrences.empty()) return "attention";
  return model.attentions.empty() ? "recurrent states" : "attention, recurrent states";
}

void add_phase_notes(const Transformer& model, const NoteFacts& facts,
                     std::vector<std::string>& notes) {
  if (facts.question.training) {
    const bool indexed = std::ranges::any_of(
        model.attentions, [](const Attention& a) { return a.indexer.has_value(); });
    notes.push_back(fmt::format(
        "a step is forward and backward of the linear layers, {}, norms, residuals, activation "
        "functions and the loss, each a kernel of its own, and the optimizer's step; not counted "
        "are rotations, recomputed activations, the embedding's look-up and gradient{} and "
        "communication",
        mixers_of(model), indexed ? ", the backward pass of the indexer" : ""));
    if (const std::string more = state_note(facts.question.state); !more.empty()) {
      notes.push_back(more);
    }
    notes.emplace_back(
        "what fits counts state and activations, without temporary buffers; `ridgebench plan fits "
        "--model` finds what makes a step fit");
    return;
  }
  notes.emplace_back(
      "norms, rotations, activation functions, softmax and sampling are not counted");
  notes.emplace_back("prefill computes the logits of the last token only");
  notes.emplace_back("what fits counts weights and KV cache, without activations");
}

void add_rank_notes(const Transformer& model, std::vector<std::string>& notes) {
  double collectives = 0;
  for (const Exchange& one : exchanges_of_inference(model, 1, 0, 0, 0)) collectives += one.times;
  notes.push_back(fmt::format(
      "FLOPs, bytes, times and memory are those of one rank; its time on the link comes after that "
      "of the products, unless the two overlap; the latency of the link, which each of {:g} "
      "collectives takes, is not counted",
      collectives));
}

void add_attention_notes(const Transformer& model, std::vector<std::string>& notes) {
  for (const Attention& a : model.attentions) {
    if (a.window == 0) continue;
    notes.push_back(
        fmt::format("a query of {} layers meets at most {} keys, and their cache holds no "
                    "more tokens",
                    a.layers, a.window));
  }
  const auto is_latent = [](const Attention& a) { return a.latent.has_value(); };
  if (std::ranges::any_of(model.attentions, is_latent)) {
    notes.emplace_back(
        "latent attention: the cache holds kv_lora_rank + qk_rope_head_dim elements a token and "
        "layer, and decoding reads them once");
  }
}

void add_recurrence_note(const Transformer& model, std::vector<std::string>& notes) {
  std::int64_t layers = 0;
  for (const Recurrence& r : model.recurrences) layers += r.layers;
  if (layers == 0) return;
  notes.push_back(
      fmt::format("the states of {} recurrent layers take {} a sequence in fp32, and the KV cache "
                  "holds them; their FLOPs are those of one token after another",
                  layers, with_unit(state_elements(model) * kStateElementBytes, "B")));
}

// Adds the notes on the formats in which quantization_config stores the weights.
void add_stored_notes(const Transformer& model, const TransformerQuestion& question,
                      std::vector<std::string>& notes) {
  if (!question.training) {
    notes.insert(notes.end(), model.stored_notes.begin(), model.stored_notes.end());
  } else if (!model.stored_notes.empty() || !model.stored_warnings.empty()) {
    notes.emplace_back(
        "quantization_config is left out: a training step has weights in the format of --format");
  }
}

}  // namespace

std::vector<std::string> prediction_notes(const Transformer& model, const NoteFacts& facts) {
  std::vector<std::string> notes;
  const auto has_experts = [](const Network& n) { return n.experts > 1; };
  if (std::ranges::any_of(model.networks, has_experts)) {
    notes.emplace_back(
        "tokens are spread evenly over the experts, so that a small batch meets as many experts as "
        "it can");
  }
  add_phase_notes(model, facts, notes);
  if (facts.question.ranks > 1) add_rank_notes(model, notes);
  if (std::string more = link_note(facts.question.link, static_cast<double>(facts.question.ranks));
      !more.empty()) {
    notes.push_back(std::move(more));
  }
  if (facts.missing_peak) notes.push_back(*facts.missing_peak);
  if (facts.launch_floor_s) {
    notes.push_back(fmt::format("a launch takes at least {} here, and so does each row",
                                with_unit(*facts.launch_floor_s, "s")));
  }
  std::string beyond = context_note(model, static_cast<double>(facts.question.context));
  if (!beyond.empty()) notes.push_back(std::move(beyond));
  add_attention_notes(model, notes);
  add_recurrence_note(model, notes);
  notes.insert(notes.end(), model.notes.begin(), model.notes.end());
  add_stored_notes(model, facts.question, notes);
  return notes;
}

}  // namespace ridgebench
