#include "tests/support/faulty_memory.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr std::uint64_t kLanes = 16;  // words of a line of 128 bytes
constexpr std::uint64_t kWordBits = 64;

constexpr std::array kFaultKeys{
    std::pair{"after", &InjectedFault::after},   std::pair{"lane", &InjectedFault::lane},
    std::pair{"bit", &InjectedFault::bit},       std::pair{"unit", &InjectedFault::unit},
    std::pair{"units", &InjectedFault::units},   std::pair{"above", &InjectedFault::above},
    std::pair{"one_in", &InjectedFault::one_in}, std::pair{"seed", &InjectedFault::seed}};

[[noreturn]] void refuse_fault(std::string_view item) {
  throw UsageError(fmt::format(
      "{}: '{}' is not KIND:key=number,...; allowed: {} with after, lane, bit, unit, units, above, "
      "one_in, seed",
      kInjectedFaultVariable, item, join_names(names_of(FaultKind{}).names)));
}

}  // namespace

InjectedFault parse_fault(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto kind = named<FaultKind>(std::string_view(text).substr(0, colon));
  if (!kind) refuse_fault(text);
  InjectedFault fault{.kind = *kind};
  std::string_view rest;
  if (colon != std::string::npos) rest = std::string_view(text).substr(colon + 1);
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const std::string_view key = item.substr(0, item.find('='));
    const auto found =
        std::ranges::find_if(kFaultKeys, [&](const auto& k) { return k.first == key; });
    if (found == kFaultKeys.end() || key.size() == item.size()) refuse_fault(item);
    const std::string_view value = item.substr(key.size() + 1);
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), fault.*found->second);
    if (error != std::errc{} || end != value.data() + value.size()) refuse_fault(item);
  }
  return fault;
}

std::optional<InjectedFault> injected_fault() {
  const char* const text = std::getenv(kInjectedFaultVariable);
  if (text == nullptr || *text == 0) return std::nullopt;
  return parse_fault(text);
}

FaultyMemory::FaultyMemory(DeviceMemory& memory, const InjectedFault& fault, Reading now_s,
                           Reading temperature_c)
    : memory_(&memory),
      fault_(fault),
      now_s_(std::move(now_s)),
      temperature_c_(std::move(temperature_c)),
      start_s_(now_s_()),
      random_(static_cast<std::uint64_t>(fault.seed)) {
  if (fault.kind == FaultKind::rate) {
    until_next_ = std::exponential_distribution<>(1 / fault.one_in)(random_);
  }
}

std::uint64_t FaultyMemory::below(std::uint64_t bound) {
  return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random_);
}

void FaultyMemory::flip(Region region, std::uint64_t word) {
  std::uint64_t value = 0;
  std::byte* const at = region.data() + word * kWordBytes;
  std::memcpy(&value, at, kWordBytes);
  value ^= std::uint64_t{1} << below(kWordBits);
  std::memcpy(at, &value, kWordBytes);
  ++flipped_;
}

void FaultyMemory::spoil(Region region) {
  const std::uint64_t words = region.size() / kWordBytes;
  if (words == 0 || now_s_() - start_s_ < fault_.after) return;
  switch (fault_.kind) {
    case FaultKind::once:
      if (!std::exchange(done_, true)) flip(region, below(words));
      break;
    case FaultKind::stuck:
      for (auto i = static_cast<std::uint64_t>(fault_.lane) % kLanes; i < words; i += kLanes) {
        std::uint64_t value = 0;
        std::memcpy(&value, region.data() + i * kWordBytes, kWordBytes);
        value |= std::uint64_t{1} << static_cast<unsigned>(fault_.bit);
        std::memcpy(region.data() + i * kWordBytes, &value, kWordBytes);
      }
      break;
    case FaultKind::sm: {
      const auto units = static_cast<std::uint64_t>(fault_.units);
      const std::uint64_t part = words / units;
      if (part > 0 && words % units == 0) {
        flip(region, static_cast<std::uint64_t>(fault_.unit) * part + below(part));
      }
      break;
    }
    case FaultKind::hot:
      if (temperature_c_() > fault_.above) flip(region, below(words));
      break;
    case FaultKind::rate:
      for (until_next_ -= static_cast<double>(words); until_next_ < 0;) {
        flip(region, below(words));
        until_next_ += std::exponential_distribution<>(1 / fault_.one_in)(random_);
      }
      break;
  }
}

std::uint64_t FaultyMemory::checksum(Region region) {
  constexpr std::uint64_t kWrong = 0x40;
  const std::uint64_t sum = memory_->checksum(region);
  const auto units = static_cast<std::size_t>(fault_.units);
  if (fault_.kind != FaultKind::sm || now_s_() - start_s_ < fault_.after) return sum;
  const bool inside = region.data() >= whole_.data() &&
                      region.data() + region.size() <= whole_.data() + whole_.size();
  if (inside && region.size() * units == whole_.size()) {  // the part of a multiprocessor
    const auto unit = static_cast<std::size_t>(region.data() - whole_.data()) / region.size();
    return unit == static_cast<std::size_t>(fault_.unit) ? sum ^ kWrong : sum;
  }
  whole_ = region;
  return region.size() % (units * kWordBytes) == 0 ? sum ^ kWrong : sum;
}

WrongBits FaultyMemory::compare(Region found, Region expected) {
  spoil(found);
  return memory_->compare(found, expected);
}

WrongBits FaultyMemory::compare(Region found, const MemoryPattern& expected) {
  spoil(found);
  return memory_->compare(found, expected);
}

}  // namespace ridgebench
