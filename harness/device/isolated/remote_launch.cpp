#include "harness/device/isolated/remote_launch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/base/statistics.hpp"
#include "harness/device/isolated/in_process.hpp"
#include "harness/device/isolated/wire.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

// Commands without launches, and the longest time that one may take for itself. On a busy host it
// takes longer, and a batch of 2 ms must not hide half of its time in it.
constexpr int kEmptyCommands = 21;
constexpr double kLongestCommand_s = 2e-4;

std::vector<std::uint64_t> numbers_of(std::span<const Launch> rotation) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(rotation.size());
  for (const Launch& launch : rotation) {
    numbers.push_back(launch.target<RemoteLaunch>()->number());
  }
  return numbers;
}

}  // namespace

RemoteLaunch::Held::Held(std::shared_ptr<KernelProcess> of, std::uint64_t launch, Plan kept)
    : process(std::move(of)), number(launch), plan(std::move(kept)) {}

RemoteLaunch::Held::~Held() { process->release(number); }

RemoteLaunch::RemoteLaunch(std::shared_ptr<KernelProcess> process, std::uint64_t number, Plan plan)
    : held_(std::make_shared<Held>(std::move(process), number, std::move(plan))) {}

void RemoteLaunch::operator()() const { process().run({number()}); }

RemotePlan::RemotePlan(std::shared_ptr<KernelProcess> of, std::uint64_t plan, std::string chosen)
    : process(std::move(of)), number(plan), choice(std::move(chosen)) {}

RemotePlan::~RemotePlan() { process->release(number); }

Launch RemoteBind::operator()(Queue& queue, const Plan& plan, const Shape& shape,
                              std::span<void* const> operands) const {
  const auto* const made = static_cast<const RemotePlan*>(plan.get());
  const auto process = made != nullptr ? made->process : file_->launcher(queue.threads());
  nlohmann::json places = nlohmann::json::array();
  for (const void* const operand : operands) places.push_back(process->place_of(operand));
  const std::uint64_t number =
      process->bind({{"implementation", implementation_},
                     {"plan", made != nullptr ? nlohmann::json(made->number) : nlohmann::json()},
                     {"shape", wire::of(shape)},
                     {"operands", places}});
  return RemoteLaunch(process, number, plan);
}

bool is_remote(const Implementation& implementation) {
  return implementation.bind.target<RemoteBind>() != nullptr;
}

std::optional<bool> isolation_of(const Implementation& implementation) {
  if (is_remote(implementation)) return !has_loaded_kernels();
  return implementation.of_user() ? std::optional(false) : std::nullopt;
}

Launch with_plan(const Plan& plan, Launch launch) {
  if (plan == nullptr || launch.target<RemoteLaunch>() != nullptr) return launch;
  return [plan, launch = std::move(launch)] { launch(); };
}

const RemoteLaunch* remote(std::span<const Launch> rotation) {
  return rotation.empty() ? nullptr : rotation.front().target<RemoteLaunch>();
}

bool run_remote(std::span<const Launch> rotation) {
  if (remote(rotation) == nullptr) return false;
  remote(rotation)->process().run(numbers_of(rotation));
  return true;
}

Timing time_remote(std::span<const Launch> rotation, std::int64_t repeats) {
  KernelProcess& process = remote(rotation)->process();
  const auto [claimed_s, seen_s, waited_s] =
      process.time(numbers_of(rotation), static_cast<std::uint64_t>(repeats));
  const double launches = static_cast<double>(repeats) * static_cast<double>(rotation.size());
  if (Claims* const claims = remote(rotation)->claims()) {
    claims->seen_s.push_back(std::max(0.0, seen_s - waited_s - claims->command_s) / launches);
  }
  return {std::min(claimed_s, seen_s), std::nullopt};
}

void wake_remote(std::span<const Launch> rotation) { remote(rotation)->process().time({}, 0); }

void begin_claims(std::span<const Launch> rotation) {
  if (remote(rotation) == nullptr) return;
  KernelProcess& process = remote(rotation)->process();
  std::vector<double> commands;
  while (commands.size() < kEmptyCommands) commands.push_back(process.time({}, 0).seen_s);
  const auto claims =
      std::make_shared<Claims>(Claims{.command_s = std::min(middle(commands), kLongestCommand_s)});
  for (const Launch& launch : rotation) launch.target<RemoteLaunch>()->share(claims);
}

std::optional<double> seen_s(std::span<const Launch> rotation) {
  const RemoteLaunch* const launch = remote(rotation);
  if (launch == nullptr || launch->claims() == nullptr || launch->claims()->seen_s.empty()) {
    return std::nullopt;
  }
  std::vector<double> seen = launch->claims()->seen_s;
  const auto quartile = seen.begin() + std::ssize(seen) / 4;
  std::ranges::nth_element(seen, quartile);
  return *quartile;
}

}  // namespace ridgebench
