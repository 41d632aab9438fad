#include <fmt/format.h>

#include <cmath>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"
#include "roofline/plan/state.hpp"

namespace ridgebench {
namespace {

constexpr double kSecondsPerDay = 86400;
constexpr double kHoursPerDay = 24;

// True if the days, and not the work only, can be computed.
bool timed(const TrainQuestion& q, const Roofs* device) { return device != nullptr || q.peak; }

void check_costs(const Costs& costs, bool with_days) {
  if (!with_days && (costs.watts || costs.pue || costs.price_per_gpu_hour)) {
    throw UsageError(
        "plan train: --watts, --pue and --price-per-gpu-hour need --on DEVICE or --peak");
  }
  if (costs.watts) positive("--watts", *costs.watts);
  if (costs.price_per_gpu_hour) positive("--price-per-gpu-hour", *costs.price_per_gpu_hour);
  if (costs.pue && positive("--pue", *costs.pue) < 1) {
    throw UsageError(fmt::format(
        "--pue is {:g}; allowed: at least 1, the energy of the site over that of the devices",
        *costs.pue));
  }
}

// A measured MFU may exceed 1, because a device may hold a higher clock than its data sheet.
void check_mfu(const TrainQuestion& q, const Roofs* device) {
  if (timed(q, device) && !q.mfu) {
    throw UsageError(
        "plan train: --on DEVICE needs --mfu, a number from 0 to 1 or a results "
        "directory");
  }
  if (q.mfu_row && q.peak) {
    throw UsageError(fmt::format(
        "--mfu was measured against the peak of {}; allowed beside --peak: a number for --mfu",
        q.mfu_sheet));
  }
  if (device != nullptr && q.mfu_row && q.mfu_sheet != device->data_sheet()) {
    throw UsageError(fmt::format(
        "--mfu was measured against the peak of {}, and --on names {}; allowed: --on {}, or a "
        "number for --mfu",
        q.mfu_sheet, device->name(), q.mfu_sheet));
  }
  const double mfu = q.mfu.value_or(1);
  const bool sensible = mfu > 0 && (mfu <= 1 || q.mfu_row);
  if (!sensible) throw UsageError(fmt::format("--mfu is {:g}; allowed: above 0, at most 1", mfu));
}

void check(const TrainQuestion& q, const Roofs* device) {
  const bool days_only = q.days && !q.work.flops && !given_by_size(q.work);
  if (!days_only && (q.days || !given_in_full(q.work))) {
    throw UsageError(
        "plan train: give the work once; allowed: --parameters or --model with --tokens, "
        "--flops, or --days");
  }
  if (!timed(q, device) && (q.gpus || q.mfu || q.days || q.reserve)) {
    throw UsageError(
        "plan train: --gpus, --mfu, --days and --reserve need --on DEVICE or --peak FLOP/S");
  }
  if (!given_by_size(q.work) && (q.state || q.step_tokens)) {
    throw UsageError(
        "plan train: --optimizer, --precision and --step-tokens need --parameters or --model, with "
        "--tokens");
  }
  if (q.days) positive("--days", *q.days);
  if (q.gpus) whole("--gpus", *q.gpus);
  if (q.step_tokens) whole("--step-tokens", *q.step_tokens);
  const double reserve = q.reserve.value_or(0);
  const bool sensible = reserve >= 0 && reserve < 1;  // false for NaN
  if (!sensible) {
    throw UsageError(fmt::format(
        "--reserve is {:g}; allowed: a share from 0 to below 1, such as 0.1 or 10%", reserve));
  }
  check_costs(q.costs, timed(q, device));
  check_mfu(q, device);
}

PlanAnswer train_inputs(const TrainQuestion& q) {
  PlanAnswer inputs = work_inputs(q.work);
  set_if(inputs, "days", q.days);
  set_if(inputs, "gpus", q.gpus);
  set_if(inputs, "mfu", q.mfu);
  if (q.mfu_row) inputs["mfu_row"] = *q.mfu_row;
  set_if(inputs, "reserve", q.reserve);
  set_if(inputs, "step_tokens", q.step_tokens);
  if (q.state) {
    inputs["precision"] = q.state->precision;
    inputs["optimizer"] = q.state->optimizer;
  }
  set_if(inputs, "watts", q.costs.watts);
  set_if(inputs, "pue", q.costs.pue);
  set_if(inputs, "price_per_gpu_hour", q.costs.price_per_gpu_hour);
  return inputs;
}

// Returns what the days depend on and the numbers do not show; empty if there is nothing to say.
std::string note_of(const TrainQuestion& q, const Roofs* device, bool has_optimizer) {
  std::vector<std::string> notes;
  if (device != nullptr && !q.peak && device->data_sheet().empty()) {
    notes.emplace_back(
        "this device has no data sheet: the MFU counts as a share of the measured peak");
  } else if (q.mfu_row && q.mfu_of_step) {
    notes.push_back(fmt::format(
        "the MFU is that of the measured step {}: equal layers without attention, on one device",
        *q.mfu_row));
  } else if (q.mfu_row) {
    const std::string remark = q.mfu_remark.empty() ? "" : fmt::format(" ({})", q.mfu_remark);
    notes.push_back(fmt::format(
        "the MFU is that of a single matmul{}, an upper bound of a model's MFU: the days are a "
        "lower bound",
        remark));
  }
  if (has_optimizer) {
    notes.emplace_back(
        "the time of the optimizer's step is part of the MFU of a step; 6 x parameters x tokens "
        "leaves its FLOPs out");
  }
  if (q.work.model.given()) {
    notes.emplace_back(
        "the FLOPs of attention's scores are left out; `ridgebench predict model --training` "
        "counts them");
  }
  return joined_notes(notes);
}

// Adds gpu_hours, energy_j and cost, each as far as it is known.
void add_costs(PlanAnswer& answer, PlanAnswer& terms, const Costs& costs, const Roofs* device,
               double device_days) {
  const double hours = finite("number of GPU-hours", device_days * kHoursPerDay);
  answer["gpu_hours"] = hours;
  const auto tdp_w = device == nullptr ? std::nullopt : device->tdp_w();
  if (const auto watts = costs.watts ? costs.watts : tdp_w) {
    terms.push_back(
        term(costs.watts ? "power of one device" : "power of one device, its TDP", *watts, "W"));
    answer["energy_j"] =
        finite("energy", *watts * costs.pue.value_or(1) * device_days * kSecondsPerDay);
  }
  if (costs.price_per_gpu_hour) answer["cost"] = finite("cost", *costs.price_per_gpu_hour * hours);
}

// Adds the optimizer's step, if the parameters and the bandwidth are known.
void add_optimizer_step(PlanAnswer& answer, PlanAnswer& terms, const TrainQuestion& q,
                        const Roofs* device) {
  const auto parameters = updated_parameters(q.work);
  const StateQuestion state = q.state.value_or(StateQuestion{});
  const OptimizerStep step = optimizer_step(state);
  const auto bandwidth =
      device == nullptr ? std::nullopt : device->memory_roof(step.written_bytes / step.bytes());
  if (!parameters || !bandwidth) return;
  const double gpus = q.gpus.value_or(1);
  const double bytes = *parameters * step.bytes();
  const double time_s = bytes / bandwidth->per_s;
  terms.push_back(
      term(fmt::format("{}'s step, {:g} bytes x parameters", state.optimizer, step.bytes()), bytes,
           "byte"));
  terms.push_back(term("its time on a device that holds all", time_s, "s"));
  if (gpus > 1) terms.push_back(term("its time if all devices share it", time_s / gpus, "s"));
  answer["optimizer"] = {{"bytes", bytes}, {"time_s", time_s}, {"shared_time_s", time_s / gpus}};
  if (!q.step_tokens || !q.work.tokens) return;
  const double steps = std::ceil(*q.work.tokens / *q.step_tokens);
  const double days = finite("days of the optimizer", steps * time_s / gpus / kSecondsPerDay);
  terms.push_back(term("steps, tokens / tokens of a step", steps, "1"));
  terms.push_back(term("days of the optimizer, states shared", days, "day"));
  answer["optimizer"].update({{"steps", steps}, {"days", days}});
}

}  // namespace

PlanAnswer plan_train(const TrainQuestion& question, const Roofs* device) {
  check(question, device);
  PlanAnswer answer{{"plan", "train"}, {"inputs", train_inputs(question)}};
  PlanAnswer terms = PlanAnswer::array();
  const std::optional<double> flops = training_flops(question.work, terms);
  if (!timed(question, device)) {
    set_if(answer, "flops", flops);
    answer["terms"] = terms;
    return answer;
  }
  const double peak = peak_of_device(question.peak, device, question.format, answer["inputs"]);
  const double gpus = question.gpus.value_or(1);
  const double worked = 1 - question.reserve.value_or(0);  // share of the days
  const double rate = gpus * question.mfu.value_or(1) * peak;
  const double flops_per_day = rate * kSecondsPerDay * worked;
  const double days = flops ? *flops / flops_per_day : question.days.value_or(0);
  if (!std::isfinite(days) || !std::isfinite(gpus * days)) {
    throw UsageError(fmt::format("--mfu is {:g}; allowed: a value with a finite number of days",
                                 question.mfu.value_or(1)));
  }
  terms.push_back(term("peak of one device", peak, "FLOP/s"));
  terms.push_back(term("rate of all, gpus x mfu x peak", rate, "FLOP/s"));
  if (question.reserve) {
    terms.push_back(term("days of work, without the reserve", days * worked, "day"));
  }
  terms.push_back(term("device-days, gpus x days", gpus * days, "day"));
  answer["flops"] = flops.value_or(flops_per_day * days);
  answer["days"] = days;
  answer["flops_per_day"] = flops_per_day;
  add_costs(answer, terms, question.costs, device, gpus * days);
  add_optimizer_step(answer, terms, question, device);
  answer["terms"] = terms;
  const std::string note = note_of(question, device, answer.contains("optimizer"));
  if (!note.empty()) answer["note"] = note;
  return answer;
}

}  // namespace ridgebench
