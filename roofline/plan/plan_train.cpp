#include <fmt/format.h>

#include <cmath>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"

namespace ridgebench {
namespace {

constexpr double kSecondsPerDay = 86400;
// FLOPs per parameter and token. The forward pass multiplies and adds. The backward pass does so
// for the gradients of the inputs and for those of the weights.
constexpr double kForwardFlops = 2;
constexpr double kBackwardFlops = 4;

void check(const TrainQuestion& q, const Roofs* device) {
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
  if (device != nullptr && q.mfu_row && q.mfu_sheet != device->data_sheet()) {
    throw UsageError(fmt::format(
        "--mfu was measured against the peak of {}, and --on names {}; allowed: --on {}, or a "
        "number for --mfu",
        q.mfu_sheet, device->name(), q.mfu_sheet));
  }
  // A measured MFU may exceed 1, because a device may hold a higher clock than its data sheet.
  const double mfu = q.mfu.value_or(1);
  const bool sensible = mfu > 0 && (mfu <= 1 || q.mfu_row);
  if (!sensible) throw UsageError(fmt::format("--mfu is {:g}; allowed: above 0, at most 1", mfu));
}

PlanAnswer inputs(const TrainQuestion& q) {
  PlanAnswer inputs = PlanAnswer::object();
  set_if(inputs, "parameters", q.parameters);
  set_if(inputs, "tokens", q.tokens);
  set_if(inputs, "flops", q.flops);
  set_if(inputs, "days", q.days);
  set_if(inputs, "gpus", q.gpus);
  set_if(inputs, "mfu", q.mfu);
  if (q.mfu_row) inputs["mfu_row"] = *q.mfu_row;
  return inputs;
}

// Returns the FLOPs as given or from the sizes. The result is empty if the days determine them.
std::optional<double> work(const TrainQuestion& q, PlanAnswer& terms) {
  if (!q.parameters || !q.tokens) return q.flops;
  const double product = *q.parameters * *q.tokens;
  terms.push_back(term("forward, 2 x parameters x tokens", kForwardFlops * product, "FLOP"));
  terms.push_back(term("backward, 4 x parameters x tokens", kBackwardFlops * product, "FLOP"));
  return (kForwardFlops + kBackwardFlops) * product;
}

// Returns what the days depend on and the numbers do not show; empty if there is nothing to say.
std::string note_of(const TrainQuestion& q, const Roofs& device) {
  if (device.data_sheet().empty()) {
    return "this device has no data sheet: the MFU counts as a share of the measured peak";
  }
  if (!q.mfu_row) return "";
  return "the MFU is that of a single matmul, an upper bound of a model's MFU: the days are a "
         "lower "
         "bound";
}

}  // namespace

PlanAnswer plan_train(const TrainQuestion& question, const Roofs* device) {
  check(question, device);
  PlanAnswer answer{{"plan", "train"}, {"inputs", inputs(question)}};
  PlanAnswer terms = PlanAnswer::array();
  const std::optional<double> flops = work(question, terms);
  if (device == nullptr) {
    set_if(answer, "flops", flops);
    answer["terms"] = terms;
    return answer;
  }
  const Rate peak = device->mfu_peak(question.format);
  answer["inputs"]["device"] = device->name();
  answer["inputs"]["format"] = question.format.name();
  answer["inputs"]["peak_from"] = peak.origin;
  const double gpus = question.gpus.value_or(1);
  const double flops_per_day = gpus * question.mfu.value_or(1) * peak.per_s * kSecondsPerDay;
  const double days = flops ? *flops / flops_per_day : question.days.value_or(0);
  if (!std::isfinite(days) || !std::isfinite(gpus * days)) {
    throw UsageError(fmt::format("--mfu is {:g}; allowed: a value with a finite number of days",
                                 question.mfu.value_or(1)));
  }
  terms.push_back(term("peak of one device", peak.per_s, "FLOP/s"));
  terms.push_back(term("rate of all, gpus x mfu x peak", flops_per_day / kSecondsPerDay, "FLOP/s"));
  terms.push_back(term("device-days, gpus x days", gpus * days, "day"));
  answer["flops"] = flops.value_or(flops_per_day * days);
  answer["days"] = days;
  answer["terms"] = terms;
  if (const std::string note = note_of(question, *device); !note.empty()) answer["note"] = note;
  return answer;
}

}  // namespace ridgebench
