#include "roofline/roofs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Written fractions that differ by less are equal.
constexpr double kSameFraction = 1e-6;

bool same_kind(const Rate& a, const Rate& b) {
  if (a.resource != b.resource) return false;
  if (a.resource == Resource::sfu) return true;
  if (a.resource != Resource::memory) return a.format == b.format;
  return std::abs(a.written_fraction - b.written_fraction) < kSameFraction;
}

Resource resource_of(Engine engine) {
  return engine == Engine::tensor ? Resource::tensor : Resource::fma;
}

// Returns the lower of the rates of a pair's formats; empty if one is unknown.
std::optional<Rate> lower(FormatPair format, auto&& rate_of) {
  std::optional<Rate> a = rate_of(format.a);
  std::optional<Rate> b = rate_of(format.b);
  if (!a || !b) return std::nullopt;
  return b->per_s < a->per_s ? b : a;
}

// Returns the rate of a format. Throws UsageError that lists the formats with a rate.
Rate required(std::string_view device, FormatPair format, auto&& rate_of) {
  if (auto rate = rate_of(format)) return *std::move(rate);
  std::vector<std::string_view> known;
  for (const FormatInfo& f : kFormats) {
    if (rate_of(f.format)) known.push_back(f.name);
  }
  if (rate_of(Format::fp4_e2m1)) known.push_back(kFp4E2m1.name);
  throw UsageError(fmt::format("{} has no peak for {}; it has: {}", device, format.name(),
                               known.empty() ? "none" : join_names(known)));
}

// Returns the sheet's peaks of all engines with sums in sum_format().
std::vector<Rate> rates_of(const DeviceSpec& sheet) {
  std::vector<Rate> rates;
  for (const Peak& peak : sheet.peaks) {
    if (peak.accumulator != sum_format(peak.format)) continue;
    rates.push_back({resource_of(peak.engine), peak.format, 0, peak.flops_per_s, sheet.name});
  }
  return rates;
}

}  // namespace

Roofs::Roofs(const DeviceSpec& sheet) : Roofs(sheet.name, sheet.memory.bytes) {
  usable_memory_bytes_.reset();
  if (sheet.memory.usable) usable_memory_bytes_ = sheet.memory.usable->bytes;
  for (const Rate& rate : rates_of(sheet)) add(rate);
  add({Resource::memory, {}, 0, sheet.memory.bandwidth_bytes_per_s, sheet.name});
  promise(sheet);
}

void Roofs::promise(const DeviceSpec& sheet) {
  data_sheet_ = sheet.name;
  promised_ = rates_of(sheet);
  tdp_w_ = sheet.tdp_w;
}

void Roofs::add(const Rate& rate) {
  const auto found =
      std::ranges::find_if(rates_, [&](const Rate& known) { return same_kind(known, rate); });
  if (found == rates_.end()) {
    rates_.push_back(rate);
  } else if (rate.resource == Resource::sfu ? rate.per_s < found->per_s
                                            : rate.per_s > found->per_s) {
    *found = rate;
  }
}

std::optional<Rate> Roofs::engine_roof(Engine engine, Format format) const {
  const auto find = [&](Format wanted) {
    return std::ranges::find_if(rates_, [&](const Rate& rate) {
      return rate.resource == resource_of(engine) && rate.format == wanted;
    });
  };
  if (const auto own = find(format); own != rates_.end()) return *own;
  const auto [factors, count] = products_of(format);
  const auto found = find(factors);
  if (found == rates_.end()) return std::nullopt;
  Rate of_format = *found;
  of_format.per_s /= count;
  return of_format;
}

std::optional<Rate> Roofs::best_engine_roof(Format format) const {
  const auto fma = engine_roof(Engine::fma, format);
  const auto tensor = engine_roof(Engine::tensor, format);
  if (!fma || !tensor) return fma ? fma : tensor;
  return fma->per_s > tensor->per_s ? fma : tensor;
}

std::optional<Rate> Roofs::arithmetic_roof(Engine engine, FormatPair format) const {
  if (engine != Engine::tensor) return engine_roof(Engine::fma, Format::fp32);
  return lower(format, [&](Format one) { return best_engine_roof(one); });
}

std::optional<Rate> Roofs::special_roof() const {
  const auto found = std::ranges::find(rates_, Resource::sfu, &Rate::resource);
  return found == rates_.end() ? std::nullopt : std::optional(*found);
}

std::optional<Rate> Roofs::conversion_roof(Resource direction, Format format) const {
  const auto found = std::ranges::find_if(rates_, [&](const Rate& rate) {
    return rate.resource == direction && rate.format == format;
  });
  return found == rates_.end() ? std::nullopt : std::optional(*found);
}

std::optional<Rate> Roofs::memory_roof(double written_fraction) const {
  const Rate* nearest = nullptr;
  double least = 0;
  for (const Rate& rate : rates_) {
    if (rate.resource != Resource::memory) continue;
    const double distance = std::abs(rate.written_fraction - written_fraction);
    const bool tie = nearest != nullptr && std::abs(distance - least) < kSameFraction;
    const bool better = tie ? rate.per_s < nearest->per_s : distance < least;
    if (nearest == nullptr || better) {
      nearest = &rate;
      least = distance;
    }
  }
  return nearest == nullptr ? std::nullopt : std::optional(*nearest);
}

std::optional<Rate> Roofs::promised_peak(FormatPair format) const {
  return lower(format, [&](Format one) {
    std::optional<Rate> best;
    for (const Rate& rate : promised_) {
      if (rate.format == one && (!best || rate.per_s > best->per_s)) best = rate;
    }
    return best;
  });
}

Rate Roofs::peak(FormatPair format) const {
  const auto rate_of = [&](FormatPair f) { return arithmetic_roof(Engine::tensor, f); };
  return required(name_, format, rate_of);
}

Rate Roofs::mfu_peak(FormatPair format) const {
  if (data_sheet_.empty()) return peak(format);
  return required(data_sheet_, format, [&](FormatPair f) { return promised_peak(f); });
}

Rate Roofs::bandwidth(double written_fraction) const {
  if (auto rate = memory_roof(written_fraction)) return *std::move(rate);
  throw UsageError(fmt::format("{} has no memory ceiling with status ok", name_));
}

Roof LimitingRates::roof() const {
  return {.peak_flops_per_s = peak ? peak->per_s : std::numeric_limits<double>::max(),
          .bandwidth_bytes_per_s = bandwidth.per_s};
}

LimitingRates limiting_rates(const Roofs& roofs, Engine engine, FormatPair format,
                             double written_fraction) {
  return {
      .peak = engine == Engine::tensor ? roofs.peak(format) : roofs.arithmetic_roof(engine, format),
      .bandwidth = roofs.bandwidth(written_fraction)};
}

}  // namespace ridgebench
