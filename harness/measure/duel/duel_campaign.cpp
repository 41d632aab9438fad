#include "harness/measure/duel/duel_campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/measure/campaign.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// A duel hangs if it takes kDuelHangFactor times its seconds and more than kShortestDuelHang.
constexpr double kDuelHangFactor = 10;
constexpr double kShortestDuelHang = 60;

}  // namespace

DuelCampaign::DuelCampaign(std::vector<DuelCase> duels, Fill fill, std::uint64_t seed,
                           ResultsDirectory& directory)
    : duels_(std::move(duels)), fill_(fill), seed_(seed), directory_(&directory), watchdog_([this] {
        give_up();
      }) {}

void DuelCampaign::measure_all() {
  for (const DuelCase& duel : duels_) {
    measure(duel);
    write_error(fmt::format("{} of {}: {}\n", records_.size(), duels_.size(),
                            printable(records_.back().id)));
  }
}

void DuelCampaign::measure(const DuelCase& duel) {
  current_ = &duel;
  watchdog_.start(
      std::chrono::duration<double>(std::max(kDuelHangFactor * duel.seconds, kShortestDuelHang)));
  const auto disarm = [this](void*) { watchdog_.stop(); };
  const std::unique_ptr<void, decltype(disarm)> guard(this, disarm);
  Device* const device = duel.first.device;
  Duelist& duelist = duelists_.try_emplace(device, *device, fill_, seed_).first->second;
  try {
    keep(duelist.measure(duel, signalled));
  } catch (const DeviceError& error) {
    keep(failed(error.what()));
    throw;
  }
}

void DuelCampaign::keep(DuelRecord record) {
  directory_->append(to_json(record));
  records_.push_back(std::move(record));
}

DuelRecord DuelCampaign::failed(const std::string& reason) const {
  DuelRecord record = current_->describe();
  record.seed = seed_;
  record.fill = name(fill_);
  record.status = Status::failed;
  record.reason = reason;
  return record;
}

void DuelCampaign::give_up() {
  end_hung(*directory_, to_json(failed("a launch did not return: hung")), "duels");
}

}  // namespace ridgebench
