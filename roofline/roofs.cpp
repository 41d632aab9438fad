#include "roofline/roofs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

}  // namespace

Roofs::Roofs(const DeviceSpec& sheet) : Roofs(sheet.name, sheet.memory.bytes) {
  for (const FormatInfo& f : kFormats) {
    const Peak* best = sheet.best_peak(f.format);
    if (best == nullptr || products_of(f.format).count > 1) continue;
    add({resource_of(best->engine), f.format, 0, best->flops_per_s, sheet.name});
  }
  add({Resource::memory, {}, 0, sheet.memory.bandwidth_bytes_per_s, sheet.name});
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

Rate Roofs::peak(Format format) const {
  if (auto rate = best_engine_roof(format)) return *std::move(rate);
  std::vector<std::string_view> known;
  for (const FormatInfo& f : kFormats) {
    if (best_engine_roof(f.format)) known.push_back(f.name);
  }
  throw UsageError(fmt::format("{} has no peak for {}; it has: {}", name_, info(format).name,
                               known.empty() ? "none" : join_names(known)));
}

Rate Roofs::bandwidth(double written_fraction) const {
  if (auto rate = memory_roof(written_fraction)) return *std::move(rate);
  throw UsageError(fmt::format("{} has no memory ceiling with status ok", name_));
}

Roof roof(const Roofs& roofs, FormatPair format, double written_fraction) {
  return {.peak_flops_per_s = std::min(roofs.peak(format.a).per_s, roofs.peak(format.b).per_s),
          .bandwidth_bytes_per_s = roofs.bandwidth(written_fraction).per_s};
}

}  // namespace ridgebench
