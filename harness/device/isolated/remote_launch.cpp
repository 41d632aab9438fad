#include "harness/device/isolated/remote_launch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/base/statistics.hpp"
#include "harness/device/isolated/gpu/in_process.hpp"
#include "harness/device/isolated/wire.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

// Commands without launches, and the longest time that one may take for itself. On a busy host it
// takes longer, and a batch of 2 ms must not hide half of its time in it.
constexpr int kEmptyCommands = 21;
constexpr double kLongestCommand_s = 2e-4;

// The launches of a batch are enqueued while the GPU waits, until it has two of them or two graphs
// of 1024 (harness/device/cuda). What one takes there: a node of a graph 0.1 us. A first launch
// takes the time of 200 of these.
constexpr double kEnqueuedNode_s = 1e-7;
constexpr double kEnqueuedAtFirst = 200;
constexpr double kMostEnqueued = 2048;

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
  if (of_gpu() && gpus_not_isolated()) return here_(queue, plan, shape, operands);
  const auto* const made = static_cast<const RemotePlan*>(plan.get());
  const auto process = made != nullptr ? made->process : file_->launcher();
  process->use(queue);
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
  const auto* const bind = implementation.bind.target<RemoteBind>();
  return bind != nullptr && !(bind->of_gpu() && gpus_not_isolated());
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
    const double unloaded_s = waited_s + claims->command_s + claims->enqueued_s(launches);
    claims->seen_s.push_back(std::max(0.0, seen_s - unloaded_s) / launches);
  }
  return {std::min(claimed_s, seen_s), std::nullopt};
}

void wake_remote(std::span<const Launch> rotation) { remote(rotation)->process().time({}, 0); }

double Claims::enqueued_s(double launches) const {
  if (!asynchronous) return 0;
  return kEnqueuedNode_s * (kEnqueuedAtFirst + std::min(launches, kMostEnqueued));
}

Early early_of_remote(const Launch& launch) {
  const auto& there = *launch.target<RemoteLaunch>();
  const nlohmann::json said = there.process().ask({{"do", "early"}, {"launch", there.number()}});
  const nlohmann::json& early = said.at("early");
  return {.early = early.is_null() ? std::nullopt : std::optional(early.get<bool>()),
          .unknown = said.at("unknown").get<std::string>()};
}

std::optional<double> busy_share_of_remote(const Launch& launch) {
  const auto& there = *launch.target<RemoteLaunch>();
  const nlohmann::json share =
      there.process().ask({{"do", "busy_share"}, {"launch", there.number()}});
  return share.is_null() ? std::nullopt : std::optional(share.get<double>());
}

void begin_claims(std::span<const Launch> rotation, bool asynchronous) {
  if (remote(rotation) == nullptr) return;
  KernelProcess& process = remote(rotation)->process();
  std::vector<double> commands;
  while (commands.size() < kEmptyCommands) commands.push_back(process.time({}, 0).seen_s);
  const auto claims = std::make_shared<Claims>(Claims{
      .command_s = std::min(middle(commands), kLongestCommand_s), .asynchronous = asynchronous});
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
