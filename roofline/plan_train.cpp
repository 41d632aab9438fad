#include <fmt/format.h>

#include "kernels/common/error.hpp"
#include "roofline/plan.hpp"
#include "roofline/plan_parts.hpp"

namespace ridgepoint {
namespace {

constexpr double kSecondsPerDay = 86400;
// A multiply and an add per parameter and token forward; backward does the same for the inputs'
// gradients and for the weights'.
constexpr double kForwardFlops = 2;
constexpr double kBackwardFlops = 4;

void check(const TrainQuestion& q, const RoofSource* device) {
  const bool by_size = q.parameters || q.tokens;
  const int works = (by_size ? 1 : 0) + (q.flops ? 1 : 0) + (q.days ? 1 : 0);
  if (works != 1 || q.parameters.has_value() != q.tokens.has_value()) {
    throw UsageError(
        "plan train: give the work once; allowed: --parameters with --tokens, --flops, "
        "or --days");
  }
  if (device == nullptr && (q.gpus || q.mfu || q.days)) {
    throw UsageError("plan train: --gpus, --mfu and --days need --on DEVICE");
  }
  if (device != nullptr && !q.mfu) {
    throw UsageError(
        "plan train: --on DEVICE needs --mfu, a number from 0 to 1 or a results "
        "directory");
  }
  if (q.parameters) positive("--parameters", *q.parameters);
  if (q.tokens) positive("--tokens", *q.tokens);
  if (q.flops) positive("--flops", *q.flops);
  if (q.days) positive("--days", *q.days);
  if (q.gpus) whole("--gpus", *q.gpus);
  // A measured one may exceed 1 a little, where the clock beats the data sheet's.
  if (q.mfu && !(*q.mfu > 0 && (*q.mfu <= 1 || q.mfu_row))) {
    throw UsageError(fmt::format("--mfu is {:g}; allowed: above 0, at most 1", *q.mfu));
  }
}

PlanAnswer inputs(const TrainQuestion& q, const RoofSource* device) {
  PlanAnswer inputs = PlanAnswer::object();
  set_if(inputs, "parameters", q.parameters);
  set_if(inputs, "tokens", q.tokens);
  set_if(inputs, "flops", q.flops);
  set_if(inputs, "days", q.days);
  if (device == nullptr) return inputs;
  inputs["gpus"] = q.gpus.value_or(1);
  inputs["mfu"] = *q.mfu;
  if (q.mfu_row) inputs["mfu_row"] = *q.mfu_row;
  inputs["device"] = device->name();
  inputs["format"] = info(q.format).name;
  return inputs;
}

}  // namespace

PlanAnswer plan_train(const TrainQuestion& question, const RoofSource* device) {
  check(question, device);
  PlanAnswer answer{{"plan", "train"}, {"inputs", inputs(question, device)}};
  PlanAnswer terms = PlanAnswer::array();
  std::optional<double> flops = question.flops;
  if (question.parameters) {
    const double product = *question.parameters * *question.tokens;
    terms.push_back(term("forward, 2 x parameters x tokens", kForwardFlops * product, "FLOP"));
    terms.push_back(term("backward, 4 x parameters x tokens", kBackwardFlops * product, "FLOP"));
    flops = (kForwardFlops + kBackwardFlops) * product;
  }
  if (device != nullptr) {
    const double gpus = question.gpus.value_or(1);
    const Rate peak = device->peak(question.format);
    const double rate = gpus * *question.mfu * peak.per_s;
    if (!flops) flops = rate * kSecondsPerDay * *question.days;
    const double days = *flops / rate / kSecondsPerDay;
    terms.push_back(
        term(fmt::format("{} peak of one device, {}", info(question.format).name, peak.origin),
             peak.per_s, "FLOP/s"));
    terms.push_back(term("rate of all, gpus x mfu x peak", rate, "FLOP/s"));
    terms.push_back(term("device-days, gpus x days", gpus * days, "day"));
    answer["flops"] = *flops;
    answer["days"] = days;
  } else {
    answer["flops"] = *flops;
  }
  answer["terms"] = terms;
  return answer;
}

}  // namespace ridgepoint
