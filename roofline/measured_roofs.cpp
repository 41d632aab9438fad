#include "roofline/measured_roofs.hpp"

#include <algorithm>
#include <cmath>

namespace ridgebench {
namespace {

// Two traffic mixes nearer than this are the same one.
constexpr double kSameFraction = 1e-6;

bool counts(const ResultRow& row) {
  const bool burst = row.technique.find("burst") != std::string::npos;
  return row.role == "ceiling" && row.status == "ok" && row.regime == "steady" && !burst &&
         row.saturates.has_value();
}

void keep_faster(MeasuredRate& kept, const MeasuredRate& candidate) {
  if (candidate.per_s > kept.per_s) kept = candidate;
}

}  // namespace

MeasuredRoofs::MeasuredRoofs(const Results& results, const std::string& device) {
  for (const ResultRow& row : results.rows) {
    if (row.device == device) add(row);
  }
}

void MeasuredRoofs::add(const ResultRow& row) {
  if (!counts(row)) return;
  if (row.saturates == "memory") add_memory(row);
  if (row.saturates == "fma") add_engine(Engine::fma, row);
  if (row.saturates == "tensor") add_engine(Engine::tensor, row);
  if (row.saturates == "sfu") add_special(row);
}

void MeasuredRoofs::add_engine(Engine engine, const ResultRow& row) {
  const MeasuredRate rate{.per_s = row.flops_per_s.value_or(0), .id = row.id};
  if (rate.per_s == 0 || row.accumulator != info(Format::fp32).name) return;
  const FormatPair pair = parse_format_pair(row.format);
  if (pair.mixed()) return;
  const auto found = std::ranges::find_if(engines_, [&](const EngineRoof& roof) {
    return roof.engine == engine && roof.format == pair.a;
  });
  if (found == engines_.end()) {
    engines_.push_back({.engine = engine, .format = pair.a, .rate = rate});
  } else {
    keep_faster(found->rate, rate);
  }
}

void MeasuredRoofs::add_memory(const ResultRow& row) {
  const MeasuredRate rate{.per_s = row.bytes_per_s.value_or(0), .id = row.id};
  if (rate.per_s == 0) return;
  const auto found = std::ranges::find_if(memory_, [&](const MemoryRoof& roof) {
    return std::abs(roof.written_fraction - row.written_fraction) < kSameFraction;
  });
  if (found == memory_.end()) {
    memory_.push_back({.written_fraction = row.written_fraction, .rate = rate});
  } else {
    keep_faster(found->rate, rate);
  }
}

// These count one FLOP for a result. Conversions, of narrow formats all of them, are no functions.
void MeasuredRoofs::add_special(const ResultRow& row) {
  const MeasuredRate rate{.per_s = row.flops_per_s.value_or(0), .id = row.id};
  if (row.format != info(Format::fp32).name) return;
  if (rate.per_s > 0 && (!special_ || rate.per_s < special_->per_s)) special_ = rate;
}

std::optional<MeasuredRate> MeasuredRoofs::engine_roof(Engine engine, Format format) const {
  const auto [factors, count] = products_of(format);
  for (const EngineRoof& roof : engines_) {
    if (roof.engine != engine || roof.format != factors) continue;
    return MeasuredRate{.per_s = roof.rate.per_s / count, .id = roof.rate.id};
  }
  return std::nullopt;
}

std::optional<MeasuredRate> MeasuredRoofs::best_engine_roof(Format format) const {
  const auto fma = engine_roof(Engine::fma, format);
  const auto tensor = engine_roof(Engine::tensor, format);
  if (!fma || !tensor) return fma ? fma : tensor;
  return fma->per_s > tensor->per_s ? fma : tensor;
}

std::vector<Format> MeasuredRoofs::formats() const {
  std::vector<Format> result;
  for (const FormatInfo& format : kFormats) {
    if (best_engine_roof(format.format)) result.push_back(format.format);
  }
  return result;
}

std::optional<MeasuredRate> MeasuredRoofs::memory_roof(double written_fraction) const {
  const MemoryRoof* nearest = nullptr;
  double least = 0;
  for (const MemoryRoof& roof : memory_) {
    const double distance = std::abs(roof.written_fraction - written_fraction);
    const bool tie = nearest != nullptr && std::abs(distance - least) < kSameFraction;
    const bool better = tie ? roof.rate.per_s < nearest->rate.per_s : distance < least;
    if (nearest == nullptr || better) {
      nearest = &roof;
      least = distance;
    }
  }
  return nearest == nullptr ? std::nullopt : std::optional(nearest->rate);
}

}  // namespace ridgebench
