#include "roofline/transformer/step_work.hpp"

namespace ridgebench {
namespace {

// The tensors of one kernel: elements that it reads and writes, FLOPs and exponentials.
struct Kernel {
  double read;
  double written;
  double flops;
  double exponentials = 0;
};

// Adds the kernels of a step to a list.
class StepWork {
 public:
  StepWork(const Transformer& model, const Sequences& sequences, Format format)
      : model_(model),
        sequences_(sequences),
        element_(info(format).storage_bytes),
        tokens_(static_cast<double>(sequences.count) * static_cast<double>(sequences.context)) {}

  // The two halves of a layer, mixing and network, have a norm and a residual each. Shared experts
  // read what the others read.
  void add_norms_and_residuals() {
    std::int64_t halves = 0;
    for (const Attention& a : model_.attentions) halves += a.layers;
    for (const Recurrence& r : model_.recurrences) halves += r.layers;
    for (const Network& n : model_.networks) {
      if (n.prefix != "shared_") halves += n.layers;
    }
    const double x = tokens_ * static_cast<double>(model_.width);
    add("norm", Pass::forward, halves + 1, {x, x, 4 * x + 3 * tokens_});
    add("norm", Pass::backward, halves + 1, {2 * x, x, 9 * x});
    add("residual", Pass::forward, halves, {2 * x, x, x});
    add("residual", Pass::backward, halves, {2 * x, x, x});
  }

  void add_activation(const Network& n) {
    const double x = tokens_ * static_cast<double>(n.active * n.width);
    const std::string name = std::string(n.prefix) + "activation";
    if (n.gated) {
      add(name, Pass::forward, n.layers, {2 * x, x, 5 * x, x});
      add(name, Pass::backward, n.layers, {3 * x, 2 * x, 12 * x, x});
    } else {
      add(name, Pass::forward, n.layers, {x, x, 20 * x, x});
      add(name, Pass::backward, n.layers, {2 * x, x, 29 * x, x});
    }
  }

  void add_softmax(const Attention& a) {
    const double pairs = training_pairs(a, sequences_);
    const std::string name = std::string(mixing_prefix(a)) + "softmax";
    add(name, Pass::forward, a.layers, {0, 0, 5 * pairs, pairs});
    add(name, Pass::backward, a.layers, {0, 0, 4 * pairs});
  }

  void add_loss() {
    const double logits = tokens_ * static_cast<double>(model_.vocabulary);
    add("loss", Pass::forward, 1, {logits, logits, 6 * logits, logits});
  }

  [[nodiscard]] std::vector<LayerWork> work() { return std::move(work_); }

 private:
  void add(const std::string& name, Pass pass, std::int64_t layers, const Kernel& k) {
    const Work work{k.flops, element_ * (k.read + k.written)};
    work_.push_back({name, pass, layers, work, element_ * k.written, k.exponentials});
  }

  const Transformer& model_;
  const Sequences& sequences_;
  double element_;
  double tokens_;
  std::vector<LayerWork> work_;
};

}  // namespace

std::vector<LayerWork> step_work(const Transformer& model, const Sequences& sequences,
                                 Format format) {
  StepWork step(model, sequences, format);
  step.add_norms_and_residuals();
  for (const Network& network : model.networks) step.add_activation(network);
  for (const Attention& attention : model.attentions) step.add_softmax(attention);
  step.add_loss();
  return step.work();
}

}  // namespace ridgebench
