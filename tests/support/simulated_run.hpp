// A short run on a simulated device, for tests of the order of cases and of what reads results.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/cli/machine_facts.hpp"
#include "harness/device/open_devices.hpp"
#include "harness/measure/campaign.hpp"
#include "harness/results/doubts.hpp"
#include "harness/results/environment.hpp"
#include "tests/support/resolved_registry.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ridgebench {

class SimulatedRun : public RegistryTest {
 protected:
  // Cases take the least time that they may.
  static RunRequest request(const std::string& filter) {
    RunRequest request;
    request.device = "sim";
    request.filter = filter;
    request.budget_s = 1e-9;
    return request;
  }

  [[nodiscard]] RunPlan plan(const RunRequest& request) const {
    return {request, devices_, [](const Case&) { return false; }};
  }

  void use(const std::string& simulation) { devices_ = open_devices("sim:" + simulation); }

  // The first `count` rows of the plan, measured into the folder.
  std::vector<Record> measure(const RunRequest& request, ResultsDirectory& directory,
                              std::size_t count, std::vector<Record> finished = {}) {
    Campaign campaign(plan(request), request.fill, request.seed, directory, std::move(finished),
                      {});
    for (std::size_t i = 0; i < std::min(count, campaign.cases().size()); ++i) campaign.measure(i);
    return campaign.records();
  }

  // A whole run as `ridgebench run` leaves it, without benchmark.json.
  std::vector<Record> write_run(const RunRequest& request) {
    ResultsDirectory directory(run_, false);
    nlohmann::ordered_json environment = make_environment(
        request, read_machine(devices_), std::vector<std::string>{"ridgebench", "run"});
    std::vector<Record> records = measure(request, directory, SIZE_MAX);
    add_doubts(environment, doubts_of(records));
    environment["ended"] = timestamp();
    environment["interrupted"] = false;
    directory.write_environment(environment);
    directory.write_checksums();
    return records;
  }

  std::vector<std::unique_ptr<Device>> devices_ = open_devices("sim");
  TemporaryDirectory folder_;
  std::filesystem::path run_ = folder_ / "run";
};

}  // namespace ridgebench
