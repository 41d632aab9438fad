#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"

namespace ridgebench {

PlanAnswer plan_mfu(const MfuQuestion& question, const Roofs& device) {
  const bool by_size = question.parameters || question.tokens;
  if (by_size == question.flops.has_value() ||
      question.parameters.has_value() != question.tokens.has_value()) {
    throw UsageError(
        "plan mfu: give the work once; allowed: --flops, or --parameters with --tokens");
  }
  const double gpus = whole("--gpus", question.gpus.value_or(1));
  const double time_s = positive("--time", question.time_s);
  PlanAnswer inputs = PlanAnswer::object();
  set_if(inputs, "parameters", question.parameters);
  set_if(inputs, "tokens", question.tokens);
  set_if(inputs, "flops", question.flops);
  const Rate peak = device.mfu_peak(question.format);
  inputs.update({{"time_s", time_s},
                 {"gpus", gpus},
                 {"device", device.name()},
                 {"format", question.format.name()},
                 {"peak_from", peak.origin}});
  PlanAnswer terms = PlanAnswer::array();
  const double flops =
      training_flops({question.parameters, question.tokens, question.flops}, terms).value_or(0);
  const double rate = flops / time_s;
  const double mfu = finite("MFU", rate / (gpus * peak.per_s));
  terms.push_back(term("peak of one device", peak.per_s, "FLOP/s"));
  terms.push_back(term("peak of all, gpus x peak", gpus * peak.per_s, "FLOP/s"));
  PlanAnswer answer{{"plan", "mfu"},       {"inputs", inputs}, {"flops", flops},
                    {"flops_per_s", rate}, {"mfu", mfu},       {"terms", terms}};
  if (mfu > 1) {
    answer["note"] =
        "above the peak: check the FLOPs, the time, the number of devices and the "
        "format";
  } else if (device.data_sheet().empty()) {
    answer["note"] = "this device has no data sheet: the MFU is a share of the measured peak";
  }
  return answer;
}

}  // namespace ridgebench
