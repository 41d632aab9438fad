#include "tests/support/injected_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "harness/device/open_devices.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr int kLargestGroup = 1000;

// A whole number that ends where `text` does; -1 for anything else.
int whole_number(std::string_view text) {
  int value = 0;
  const char* first = text.data();
  const char* last = first + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  return error == std::errc{} && end == last ? value : -1;
}

}  // namespace

InjectedWork injected_work() {
  const char* value = std::getenv(kInjectedWorkVariable);
  if (value == nullptr) return {};
  const std::string_view text = value;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const InjectedWork work{.extra = whole_number(text.substr(0, slash)),
                            .counted = whole_number(text.substr(slash + 1))};
    const bool group = work.counted >= 1 && work.counted <= kLargestGroup;
    if (group && work.extra >= 0 && work.extra <= work.counted) return work;
  }
  throw UsageError(fmt::format("{}='{}' is not K/N with 0 <= K <= N <= {} and N >= 1",
                               kInjectedWorkVariable, text, kLargestGroup));
}

std::vector<Launch> inject(std::span<const Launch> rotation, const InjectedWork& work) {
  const std::size_t sets = rotation.size();
  const auto group = static_cast<std::size_t>(work.counted);
  std::vector<Launch> result;
  result.reserve((sets + group - 1) / group * group);
  while (result.size() < sets || result.size() % group != 0) {
    const std::size_t i = result.size();
    const Launch& launch = rotation[i % sets];
    if (i % group >= static_cast<std::size_t>(work.extra)) {
      result.push_back(launch);
      continue;
    }
    result.emplace_back([launch, other = rotation[(i + sets / 2) % sets]] {
      launch();
      other();
    });
  }
  return result;
}

InjectedWorkDevice::InjectedWorkDevice(const InjectedWork& work) : work_(work) {
  const auto fault = injected_fault();
  if (!fault) return;
  faulty_ = std::make_unique<FaultyMemory>(
      CpuDevice::memory(), *fault, [this] { return now_s(); }, [] { return 0.0; });
}

void InjectedWorkDevice::begin_case(const std::string& id) {
  const std::string_view operation = std::string_view(id).substr(0, id.find('/'));
  const auto& all = Registry::instance().operations();
  const auto found =
      std::ranges::find(all, operation, [](const auto& candidate) { return candidate->name; });
  const bool ceiling = found != all.end() && (*found)->ceiling.has_value();
  slows_ = !ceiling && id.find("/cold@") == std::string::npos;
}

nlohmann::ordered_json InjectedWorkDevice::end_case() {
  nlohmann::ordered_json telemetry = CpuDevice::end_case();
  if (slows_ && work_.extra > 0) {
    telemetry[kInjectedWorkKey] = fmt::format("{}/{}", work_.extra, work_.counted);
  }
  return telemetry;
}

// The launches of a batch in whole groups; the time is scaled to `repeats` rotations.
Timing InjectedWorkDevice::time_batch(std::span<const Launch> rotation, std::int64_t repeats) {
  if (!slows_ || work_.counted == 1) return CpuDevice::time_batch(rotation, repeats);
  const std::vector<Launch> batch = inject(rotation, work_);
  const auto wanted = static_cast<double>(repeats) * static_cast<double>(rotation.size());
  const auto times = std::max<std::int64_t>(1, repeats * std::ssize(rotation) / std::ssize(batch));
  Timing timing = CpuDevice::time_batch(batch, times);
  timing.seconds *= wanted / (static_cast<double>(times) * static_cast<double>(batch.size()));
  return timing;
}

namespace {

const RegisterDevices injected{
    {.name = "injected", .open = [](const std::string& text) -> std::unique_ptr<Device> {
       if (!text.empty()) throw UsageError("device injected takes no ':" + text + "'");
       return std::make_unique<InjectedWorkDevice>(injected_work());
     }}};

}  // namespace
}  // namespace ridgebench
