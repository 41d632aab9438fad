#include <fmt/format.h>

#include <cmath>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"

namespace ridgebench {
namespace {

constexpr double kSecondsPerDay = 86400;
constexpr double kHoursPerDay = 24;

void check_costs(const Costs& costs, const Roofs* device) {
  if (device == nullptr && (costs.watts || costs.pue || costs.price_per_gpu_hour)) {
    throw UsageError("plan train: --watts, --pue and --price-per-gpu-hour need --on DEVICE");
  }
  if (costs.watts) positive("--watts", *costs.watts);
  if (costs.price_per_gpu_hour) positive("--price-per-gpu-hour", *costs.price_per_gpu_hour);
  if (costs.pue && positive("--pue", *costs.pue) < 1) {
    throw UsageError(fmt::format(
        "--pue is {:g}; allowed: at least 1, the energy of the site over that of the devices",
        *costs.pue));
  }
}

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
  if (q.days) positive("--days", *q.days);
  if (q.gpus) whole("--gpus", *q.gpus);
  check_costs(q.costs, device);
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

PlanAnswer train_inputs(const TrainQuestion& q) {
  PlanAnswer inputs = PlanAnswer::object();
  set_if(inputs, "parameters", q.parameters);
  set_if(inputs, "tokens", q.tokens);
  set_if(inputs, "flops", q.flops);
  set_if(inputs, "days", q.days);
  set_if(inputs, "gpus", q.gpus);
  set_if(inputs, "mfu", q.mfu);
  if (q.mfu_row) inputs["mfu_row"] = *q.mfu_row;
  set_if(inputs, "watts", q.costs.watts);
  set_if(inputs, "pue", q.costs.pue);
  set_if(inputs, "price_per_gpu_hour", q.costs.price_per_gpu_hour);
  return inputs;
}

// Returns what the days depend on and the numbers do not show; empty if there is nothing to say.
std::string note_of(const TrainQuestion& q, const Roofs& device) {
  if (device.data_sheet().empty()) {
    return "this device has no data sheet: the MFU counts as a share of the measured peak";
  }
  if (!q.mfu_row) return "";
  return "the MFU is that of a single matmul, an upper bound of a model's MFU: the days are a "
         "lower bound";
}

// Adds gpu_hours, energy_j and cost, each as far as it is known.
void add_costs(PlanAnswer& answer, PlanAnswer& terms, const Costs& costs, const Roofs& device,
               double device_days) {
  const double hours = finite("number of GPU-hours", device_days * kHoursPerDay);
  answer["gpu_hours"] = hours;
  if (const auto watts = costs.watts ? costs.watts : device.tdp_w()) {
    terms.push_back(
        term(costs.watts ? "power of one device" : "power of one device, its TDP", *watts, "W"));
    answer["energy_j"] =
        finite("energy", *watts * costs.pue.value_or(1) * device_days * kSecondsPerDay);
  }
  if (costs.price_per_gpu_hour) answer["cost"] = finite("cost", *costs.price_per_gpu_hour * hours);
}

}  // namespace

PlanAnswer plan_train(const TrainQuestion& question, const Roofs* device) {
  check(question, device);
  PlanAnswer answer{{"plan", "train"}, {"inputs", train_inputs(question)}};
  PlanAnswer terms = PlanAnswer::array();
  const std::optional<double> flops =
      training_flops({question.parameters, question.tokens, question.flops}, terms);
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
  answer["flops_per_day"] = flops_per_day;
  add_costs(answer, terms, question.costs, *device, gpus * days);
  answer["terms"] = terms;
  if (const std::string note = note_of(question, *device); !note.empty()) answer["note"] = note;
  return answer;
}

}  // namespace ridgebench
