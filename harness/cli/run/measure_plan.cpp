#include "harness/cli/run/measure_plan.hpp"

#include <utility>

#include "harness/cli/doctor/conditions.hpp"
#include "harness/cli/machine_facts.hpp"
#include "harness/cli/run_loop.hpp"
#include "harness/cli/run_notes.hpp"
#include "harness/cli/terminal/plot.hpp"
#include "harness/measure/crash.hpp"
#include "harness/measure/turns.hpp"
#include "harness/results/files/resume.hpp"

namespace ridgebench {

ExitCode measure_plan(RunPlan plan, const RunSettings& settings,
                      const std::vector<std::unique_ptr<Device>>& devices, const Stopwatch& clock) {
  const RunRequest& request = settings.request;
  for (const auto& device : devices) {
    device->queue().allow_early_launches(request.early_launches);
  }
  const MachineFacts before = read_machine(devices);
  auto environment = make_environment(request, before, settings.command_line);
  if (settings.take_turns) environment["samples_per_turn"] = kSamplesPerTurn;
  if (!settings.more_facts.is_null()) environment.update(settings.more_facts);
  const doctor::Findings conditions = doctor::conditions_of(request.fill, before);
  ResultsDirectory directory(settings.folder, settings.resume);
  std::vector<Record> finished;
  if (settings.resume) {
    continue_run(environment, settings.folder.string());
    if (settings.retry) directory.drop(kRetried);
    finished = read_records(settings.folder.string());
  } else {
    warn_of_budget(plan, request.budget_s);
    note_left_out(plan);
  }
  doctor::add_conditions(environment, conditions);
  note_conditions(directory, conditions);
  directory.write_environment(environment);
  if (const auto error = point_latest_at(directory.path())) note_latest(error.message());
  Campaign campaign(std::move(plan), request.fill, request.seed, directory, std::move(finished),
                    settings.ceilings);
  campaign.explain_missing_roofs(settings.roofs_unknown);
  campaign.count_from(clock);
  campaign.count_spent(settings.spent_s);
  if (settings.take_turns) campaign.take_turns();
  campaign.count_spent(-wait_for_start(settings.together));
  catch_crashes(settings.after_a_crash);
  run_cases(campaign, directory, settings.flags, settings.junit);
  add_doubts(environment, campaign.doubts());
  end_environment(environment, read_machine(devices), clock.seconds());
  note_worn(environment);
  directory.write_environment(environment);
  directory.write_judgement();
  directory.write_checksums();
  if (settings.plot && settings.flags.format == "console") {
    show_rooflines(directory.path().string(), settings.flags.color);
  }
  return conclude(campaign.records(), directory.given().string(), settings.roofs_unknown);
}

}  // namespace ridgebench
