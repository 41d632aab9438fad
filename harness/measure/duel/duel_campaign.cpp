#include "harness/measure/duel/duel_campaign.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/device/isolated/kernel_process.hpp"
#include "harness/measure/campaign.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

DuelCampaign::DuelCampaign(std::vector<DuelCase> duels, DuelSettings settings,
                           ResultsDirectory& directory)
    : duels_(std::move(duels)),
      settings_(std::move(settings)),
      directory_(&directory),
      watchdog_([this] { give_up(); }) {}

void DuelCampaign::measure_all() {
  for (const DuelCase& duel : duels_) {
    measure(duel);
    write_error(fmt::format("{} of {}: {}\n", records_.size(), duels_.size(),
                            printable(records_.back().id)));
  }
}

void DuelCampaign::measure(const DuelCase& duel) {
  current_ = &duel;
  try {
    const bool here = duel.processes == 1 || duel.unsupported();
    keep(here ? measure_here(duel) : measure_in_processes(duel, settings_, signalled));
  } catch (const DeviceError& error) {
    keep(failed(error.what()));
    throw;
  }
}

DuelRecord DuelCampaign::measure_here(const DuelCase& duel) {
  watchdog_.start(std::chrono::duration<double>(duel_hangs_after_s(duel.seconds)));
  const auto disarm = [this](void*) { watchdog_.stop(); };
  const std::unique_ptr<void, decltype(disarm)> guard(this, disarm);
  Device* const device = duel.first.device;
  DuelMeasurer& measurer =
      measurers_.try_emplace(device, *device, settings_.fill, settings_.seed).first->second;
  return measurer.measure(duel, signalled);
}

void DuelCampaign::keep(DuelRecord record) {
  directory_->append(to_json(record));
  records_.push_back(std::move(record));
}

DuelRecord DuelCampaign::failed(const std::string& reason) const {
  DuelRecord record = current_->describe();
  record.seed = settings_.seed;
  record.fill = name(settings_.fill);
  record.status = Status::failed;
  record.reason = reason;
  return record;
}

void DuelCampaign::give_up() {
  if (end_busy_kernel_process("a launch did not return: hung")) return;
  end_hung(*directory_, to_json(failed("a launch did not return: hung")), "duels");
}

}  // namespace ridgebench
