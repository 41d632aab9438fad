#include "harness/results/judged/roofs_of_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "harness/results/judged/format_rows.hpp"
#include "harness/results/measured_roofs.hpp"

namespace ridgebench {
namespace {

using RoofList = std::vector<JudgedRoof>;
using Points = std::vector<const Record*>;

// Roofs that differ by less are one: a third of tf32's for tf32x3 is another.
constexpr double kSameRoof = 0.02;

bool judged_by(const Record& r, const std::string& compute_ceiling) {
  return r.roof && r.roof->compute_ceiling == compute_ceiling;
}

// The roof of a ceiling, whose rate a row above it has raised.
JudgedRoof make_roof(const RaisedRow& row, std::string name, double per_s) {
  const Record& r = row.record;
  per_s *= row.raised;
  const double spread = r.time->median * per_s;
  return {.name = std::move(name),
          .per_s = per_s,
          .low_per_s = spread / r.time->p90,
          .high_per_s = spread / r.time->p10,
          .format = r.format.name(),
          .engine = r.engine,
          .level = r.level,
          .ceiling = r.id};
}

// The fastest roof of each name, by name: a ceiling is what the machine can do.
RoofList fastest_of_each(RoofList roofs) {
  std::map<std::string, JudgedRoof> fastest;
  for (JudgedRoof& roof : roofs) {
    const auto [known, first] = fastest.try_emplace(roof.name, roof);
    if (!first && roof.per_s > known->second.per_s) known->second = std::move(roof);
  }
  RoofList found;
  for (auto& [name, roof] : fastest) found.push_back(std::move(roof));
  return found;
}

RoofList fastest_first(RoofList roofs) {
  std::ranges::stable_sort(roofs, std::ranges::greater(), &JudgedRoof::per_s);
  return roofs;
}

// The memory's roofs that judge rows; without such rows those of reading and copying, or all.
RoofList memory_roofs(const FormatRows& selection) {
  RoofList all;
  RoofList usual;
  RoofList judges;
  for (const RaisedRow* row : selection.ceilings) {
    const Record& r = row->record;
    if (r.saturates != Resource::memory || r.regime != Regime::steady || !r.bytes_per_s()) continue;
    const JudgedRoof roof = make_roof(*row, traffic_name(r.written_fraction), *r.bytes_per_s());
    all.push_back(roof);
    if (roof.name == "read" || roof.name == "copy") usual.push_back(roof);
    if (selection.used.contains(r.id)) judges.push_back(roof);
  }
  return fastest_first(fastest_of_each(!judges.empty() ? judges : !usual.empty() ? usual : all));
}

RoofList cache_roofs(const FormatRows& selection) {
  RoofList roofs;
  for (const RaisedRow* row : selection.ceilings) {
    const Record& r = row->record;
    if (r.saturates != Resource::cache || !r.bytes_per_s()) continue;
    roofs.push_back(make_roof(*row, fmt::format("L{}", r.level.value_or(0)), *r.bytes_per_s()));
  }
  return fastest_of_each(std::move(roofs));
}

// The fastest row that a compute ceiling judges: one bound by arithmetic before others, a square
// before others. The traffic of other products may be mostly reading or mostly writing.
const Record* judged_row(const FormatRows& selection, const std::string& ceiling) {
  const auto rank = [](const Record& r) {
    return std::tuple(r.bound == Limit::compute, is_square(r.shape), r.flops_per_s().value_or(0));
  };
  const Record* found = nullptr;
  for (const Record* r : selection.points) {
    if (!judged_by(*r, ceiling)) continue;
    if (found == nullptr || rank(*r) > rank(*found)) found = r;
  }
  return found;
}

// The flat roof of a ceiling, with the ridge of the rows that it judges. In a figure of tf32x3,
// three products of tf32 make one, so that a third of tf32's roof is drawn.
JudgedRoof compute_roof(const FormatRows& selection, const RaisedRow& ceiling) {
  const Record& c = ceiling.record;
  JudgedRoof roof = make_roof(ceiling, fmt::format("{} {}", c.format.name(), name(c.engine)),
                              c.flops_per_s().value_or(0));
  const Record* row = judged_row(selection, c.id);
  if (row == nullptr || !row->roof->flops_per_s) return roof;
  const double part = *row->roof->flops_per_s / roof.per_s;
  if (selection.format && part < 1 - kSameRoof && row->arithmetic == row->format) {
    roof.name = fmt::format("{} {}", row->format.name(), name(c.engine));
    roof.format = row->format.name();
    for (double* per_s : {&roof.per_s, &roof.low_per_s, &roof.high_per_s}) *per_s *= part;
  }
  roof.bytes_per_s = row->roof->bytes_per_s;
  roof.traffic = traffic_of(selection, row->roof->memory_ceiling);
  return roof;
}

RoofList compute_roofs(const FormatRows& selection) {
  RoofList roofs;
  for (const RaisedRow* row : selection.ceilings) {
    const Record& r = row->record;
    const bool engine = r.saturates == Resource::fma || r.saturates == Resource::tensor;
    if (!engine || r.accumulator != Format::fp32 || !r.flops_per_s()) continue;
    roofs.push_back(compute_roof(selection, *row));
  }
  return fastest_first(fastest_of_each(std::move(roofs)));
}

// The bandwidth of a device as a whole: the read roof where it is known, because operands are read.
void add_usual_bandwidth(RoofsOfFormat& roofs) {
  if (roofs.memory.empty()) return;
  auto usual = std::ranges::find(roofs.memory, "read", &JudgedRoof::name);
  if (usual == roofs.memory.end()) usual = roofs.memory.begin();
  for (JudgedRoof& roof : roofs.compute) {
    if (roof.bytes_per_s) continue;
    roof.bytes_per_s = usual->per_s;
    roof.traffic = usual->name;
  }
}

// True if the products on tensor cores have no measured roof, as on a GPU that only tcgen05
// saturates: the roof of the CUDA cores is not theirs.
bool lacks_tensor_roof(const FormatRows& selection) {
  bool products = false;
  for (const Record* r : selection.points) {
    if (!is_product(*r) || r->engine != Engine::tensor || !r->roof) continue;
    if (r->roof->flops_per_s) return false;
    products = true;
  }
  return products;
}

// The highest compute roof that judges the rows, with the bandwidth that judges square products.
std::optional<ProductRoof> product_roof(const FormatRows& selection, const RoofsOfFormat& roofs) {
  if (roofs.memory.empty() || roofs.compute.empty() || lacks_tensor_roof(selection)) {
    return std::nullopt;
  }
  Points judged;
  double flat = 0;
  for (const Record* r : selection.points) {
    if (!r->roof || !r->roof->flops_per_s || !r->roof->bytes_per_s) continue;
    judged.push_back(r);
    flat = std::max(flat, *r->roof->flops_per_s);
  }
  const JudgedRoof& highest = roofs.compute.front();
  if (judged.empty()) flat = highest.per_s;
  const auto rank = [](const Record& r) {
    return std::tuple(is_square(r.shape), r.bound == Limit::compute, r.flops_per_s().value_or(0));
  };
  const Record* row = nullptr;
  for (const Record* r : judged) {
    if (r->op != "matmul" || *r->roof->flops_per_s != flat) continue;
    if (row == nullptr || rank(*r) > rank(*row)) row = r;
  }
  if (row == nullptr) {
    return ProductRoof{flat, highest.bytes_per_s.value_or(roofs.memory.front().per_s),
                       highest.traffic};
  }
  return ProductRoof{flat, *row->roof->bytes_per_s,
                     traffic_of(selection, row->roof->memory_ceiling)};
}

RoofsOfFormat roofs_of_selection(const FormatRows& selection) {
  RoofsOfFormat roofs{.format = selection.format,
                      .memory = memory_roofs(selection),
                      .caches = cache_roofs(selection),
                      .compute = compute_roofs(selection)};
  add_usual_bandwidth(roofs);
  roofs.products = product_roof(selection, roofs);
  return roofs;
}

}  // namespace

std::vector<RoofsOfFormat> roofs_by_format(const std::vector<RaisedRow>& rows) {
  std::set<std::string> formats;
  for (const auto& [r, raised, by] : rows) {
    if (r.role == Role::kernel || is_roof(r)) formats.insert(r.format.name());
  }
  std::vector<RoofsOfFormat> found{roofs_of_selection(rows_of_format(rows, std::nullopt))};
  for (const std::string& format : formats) {
    found.push_back(roofs_of_selection(rows_of_format(rows, format)));
  }
  return found;
}

}  // namespace ridgebench
