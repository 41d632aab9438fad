#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"
#include "roofline/plan/published_mfu.hpp"

namespace ridgebench {
namespace {

PlanAnswer expected_mfu() {
  PlanAnswer rows = PlanAnswer::array();
  for (const MfuRange& range : kMfuRanges) {
    rows.push_back({{"from", range.least}, {"meaning", range.meaning}, {"look", range.look}});
  }
  return rows;
}

PlanAnswer published_mfu() {
  PlanAnswer rows = PlanAnswer::array();
  for (const PublishedMfu& one : kPublishedMfu) {
    rows.push_back({{"run", one.run}, {"mfu", one.mfu}, {"source", one.source}});
  }
  return rows;
}

}  // namespace

PlanAnswer plan_mfu(const MfuQuestion& question, const Roofs* device) {
  if (!given_in_full(question.work)) {
    throw UsageError(
        "plan mfu: give the work once; allowed: --flops, or --parameters or --model with --tokens");
  }
  if (device == nullptr && !question.peak) {
    throw UsageError("plan mfu: the peak is missing; allowed: --on DEVICE, or --peak FLOP/S");
  }
  const double gpus = whole("--gpus", question.gpus.value_or(1));
  const double time_s = positive("--time", question.time_s);
  PlanAnswer inputs = work_inputs(question.work);
  inputs.update({{"time_s", time_s}, {"gpus", gpus}});
  const double peak = peak_of_device(question.peak, device, question.format, inputs);
  PlanAnswer terms = PlanAnswer::array();
  const double flops = training_flops(question.work, terms).value_or(0);
  const double rate = flops / time_s;
  const double mfu = finite("MFU", rate / (gpus * peak));
  terms.push_back(term("peak of one device", peak, "FLOP/s"));
  terms.push_back(term("peak of all, gpus x peak", gpus * peak, "FLOP/s"));
  PlanAnswer answer{{"plan", "mfu"},
                    {"inputs", inputs},
                    {"flops", flops},
                    {"flops_per_s", rate},
                    {"mfu", mfu},
                    {"terms", terms},
                    {"meaning", mfu_range(mfu).meaning},
                    {"expected", expected_mfu()},
                    {"published", published_mfu()}};
  if (mfu > 1) {
    answer["note"] =
        "above the peak: check the FLOPs, the time, the number of devices and the "
        "format";
  } else if (!question.peak && device->data_sheet().empty()) {
    answer["note"] = "this device has no data sheet: the MFU is a share of the measured peak";
  }
  return answer;
}

}  // namespace ridgebench
