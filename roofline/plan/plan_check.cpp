// The checklist before a training run: six rows with a verdict, and what to do about those that
// fail.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/encoding.hpp"
#include "roofline/nullable.hpp"
#include "roofline/plan/network.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"
#include "roofline/plan/state.hpp"

namespace ridgebench {
namespace {

constexpr double kSmallGradient = 1e-8;  // the notes' example of what a format must hold

// One row of the checklist. It passes if `value` is at most `limit`.
struct Check {
  std::string name;
  double value;
  std::optional<double> limit;  // empty: nothing limits it
  std::string unit;
  std::string remedy = {};  // of a row that fails

  [[nodiscard]] bool passes() const { return !limit || value <= *limit; }
};

class Checklist {
 public:
  Checklist(const CheckQuestion& question, const Roofs& device)
      : question_(question), fits_(plan_fits(question.fits, device)) {
    TrainQuestion train{.work = {.tokens = question.tokens, .adapters = state().adapters},
                        .gpus = question.fits.ranks,
                        .mfu = question.mfu,
                        .format = question.format};
    train.work.model = {model().name, parameters(model()), active_parameters(model())};
    train_ = plan_train(train, &device);
  }

  [[nodiscard]] std::vector<Check> rows() const {
    return {model_memory(), state_memory(), activations(), time(), format(), communication()};
  }

 private:
  [[nodiscard]] const Transformer& model() const { return *question_.fits.activations.model; }
  [[nodiscard]] const StateQuestion& state() const { return question_.fits.state; }
  [[nodiscard]] double memory() const { return fits_["memory_bytes"].get<double>(); }
  [[nodiscard]] Sharding sharding() const { return {question_.fits.stage, question_.fits.ranks}; }

  // The bytes of a rank up to and without the part with a letter.
  [[nodiscard]] double bytes_before(const std::string& letter) const {
    double bytes = 0;
    for (const PlanAnswer& part : fits_["parts"]) {
      if (part["letter"] == letter) break;
      bytes += part["bytes"].get<double>();
    }
    return bytes;
  }

  // The first change that makes all of it fit.
  [[nodiscard]] std::string change() const {
    const PlanAnswer& changes = fits_["changes"];
    if (changes.empty()) return "more memory a device, or a smaller model";
    return changes.front()["change"].get<std::string>();
  }

  [[nodiscard]] Check model_memory() const {
    const double bytes = fits_["parts"].front()["bytes"].get<double>();
    return {"model memory", bytes, memory(), "byte", change()};
  }
  [[nodiscard]] Check state_memory() const {
    return {"optimizer state, with model and gradients", bytes_before("A"), memory(), "byte",
            change()};
  }
  [[nodiscard]] Check activations() const {
    return {"activations, with all of that", fits_["bytes"].get<double>(), memory(), "byte",
            change()};
  }
  [[nodiscard]] Check time() const {
    const double days = train_["days"].get<double>();
    Check check{"FLOPs and time", days, question_.days, "day"};
    if (!check.passes()) {
      check.remedy = fmt::format("--gpus {:.15g}, or a higher MFU: ridgebench plan mfu",
                                 std::ceil(question_.fits.ranks * days / *question_.days));
    }
    return check;
  }
  [[nodiscard]] Check format() const {
    const std::string name(info(question_.format.a).name);
    return {fmt::format("formats: {} rounds to 0 below", name),
            encodings_of(name).front().least() / 2, kSmallGradient, "1",
            "--format bf16, or loss scaling: ridgebench number --histogram normal:1e-7 --scale "
            "1024"};
  }

  // A rank's traffic hides behind the arithmetic of a step if it takes no longer.
  [[nodiscard]] Check communication() const {
    const double sent =
        sent_in_a_step(state_parts(state()), sharding(), fits_["parameters"].get<double>(),
                       question_.fits.activations.micro_batches);
    const bool offloads = fits_.contains("host_link_bytes");
    if (sent == 0 && !offloads) return {"communication: nothing is sent", 0, std::nullopt, "s"};
    // Both links work at once.
    const double peers_s = sent == 0 ? 0 : sent / question_.link->bytes_per_s;
    const double host_s =
        offloads ? fits_["host_link_bytes"].get<double>() / question_.host_link->bytes_per_s : 0;
    const double link_s = std::max(peers_s, host_s);
    const double step_s = step_time_s();
    // A micro-batch sends gradients of its own to the host, and between ranks that shard them.
    const bool each = host_s > peers_s || sharding().shards_gradients();
    const char* name = "communication, beside a step's arithmetic";
    if (offloads)
      name = sent == 0 ? "communication with the host" : "communication, with the host too";
    return {
        name, link_s, step_s, "s",
        fmt::format("{:.15g} times the batch, in {}, or a faster link{}",
                    std::ceil(link_s / step_s), each ? "no more micro-batches" : "micro-batches",
                    host_s > peers_s ? " to the host" : "")};
  }

  [[nodiscard]] double step_time_s() const {
    constexpr double kSecondsPerDay = 86400;
    const ActivationQuestion& q = question_.fits.activations;
    const double tokens = q.batch * q.context.value_or(kDefaultContext) * question_.fits.ranks;
    return train_["days"].get<double>() * kSecondsPerDay * tokens / question_.tokens;
  }

  const CheckQuestion& question_;
  PlanAnswer fits_;
  PlanAnswer train_;
};

void check_given(const CheckQuestion& question) {
  if (!question.fits.activations.model) {
    throw UsageError("plan check: the model is missing; allowed: --model CONFIG");
  }
  if (question.days) positive("--days", *question.days);
  positive("--tokens", question.tokens);
  if (question.fits.ranks > 1 && !question.link) {
    throw UsageError(fmt::format(
        "plan check: {:g} devices need --link, the link between them; allowed: byte/s such as "
        "50G, a results directory with copies, or {}",
        question.fits.ranks, link_names()));
  }
  if (offloads(question.fits.state) != question.host_link.has_value()) {
    throw UsageError(fmt::format(
        "plan check: --precision bf16-offload and --host-link, the link between a device and its "
        "host, need each other; allowed: both or none; --host-link as byte/s such as 50G, a "
        "results directory with copies, or {}",
        link_names()));
  }
}

std::string host_link_note(const std::optional<Link>& link) {
  return link && !link->remark.empty() ? "to the host " + link->remark : "";
}

}  // namespace

PlanAnswer plan_check(const CheckQuestion& question, const Roofs& device) {
  check_given(question);
  const std::vector<Check> rows = Checklist(question, device).rows();
  PlanAnswer inputs{{"tokens", question.tokens},
                    {"mfu", question.mfu},
                    {"stage", question.fits.stage},
                    {"ranks", question.fits.ranks},
                    {"precision", question.fits.state.precision},
                    {"optimizer", question.fits.state.optimizer}};
  set_if(inputs, "days", question.days);
  inputs.update(activation_inputs(checked(question.fits.activations)));
  inputs["format"] = question.format.name();
  if (question.link) inputs["link"] = question.link->name;
  if (question.host_link) inputs["host_link"] = question.host_link->name;
  inputs["device"] = device.name();
  PlanAnswer checks = PlanAnswer::array();
  bool all = true;
  for (const Check& row : rows) {
    all = all && row.passes();
    checks.push_back({{"check", row.name},
                      {"pass", row.passes()},
                      {"value", row.value},
                      {"limit", nullable(row.limit)},
                      {"unit", row.unit},
                      {"remedy", row.passes() ? PlanAnswer(nullptr) : PlanAnswer(row.remedy)}});
  }
  return {
      {"plan", "check"},
      {"inputs", inputs},
      {"terms", PlanAnswer::array()},
      {"checks", checks},
      {"pass", all},
      {"note",
       joined_notes({"the notes of plan fits, train, zero and transfer say what a row leaves out",
                     question.fits.state.adapters
                         ? "the FLOPs are 4 x parameters x tokens, and 6 for the parameters of "
                           "adapters: frozen parameters have no gradients"
                         : "",
                     context_note(question.fits.activations),
                     link_note(question.link, question.fits.ranks),
                     host_link_note(question.host_link)})}};
}

}  // namespace ridgebench
