#include "harness/cli/terminal/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "harness/results/judged/judged.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/error.hpp"
#include "roofline/device_spec.hpp"

namespace ridgebench {
namespace {

using RecordList = std::vector<const Record*>;

bool verified(const Record& r) { return r.role == Role::kernel && r.status == Status::ok; }

RooflinePoint point_of(const Record& r, const Doubts& doubts) {
  return {.intensity = r.intensity_flop_per_byte().value_or(0),
          .flops_per_s = r.flops_per_s().value_or(0),
          .format = r.format.a,
          .name = fmt::format("{} {}", r.op, r.technique),
          .format_name = r.format.name(),
          .share_of_roof = r.fraction_of_measured_roof,
          .raised_its_roof = r.flagged(kAboveRoof),
          .doubted = doubts.rows.contains(r.id)};
}

// The formats to show where there is no room for all, the most wanted first.
std::size_t rank(FormatPair format) {
  constexpr std::array first{Format::bf16, Format::fp32, Format::fp16, Format::fp8_e4m3};
  const auto found = std::ranges::find(first, format.a);
  const auto place = static_cast<std::size_t>(found - first.begin());
  return format.mixed() ? first.size() + 1 : place;
}

// Orders rows by what they say of an operation. A row that the run could not finish says less than
// others, and so does one that caches served.
auto worth(const Record& r, const Standing& standing) {
  return std::tuple(standing.may_head(r), !served_by_cache(r), r.flops_per_s().value_or(0));
}

// The best row of each operation and format, with the formats in the order of their rank.
std::map<std::string, RecordList> best_rows(const RecordList& rows, const Standing& standing) {
  std::map<std::string, std::map<std::string, const Record*>> best;
  for (const Record* r : rows) {
    const Record*& known = best[r->op][r->format.name()];
    if (known == nullptr || worth(*r, standing) > worth(*known, standing)) known = r;
  }
  std::map<std::string, RecordList> sorted;
  for (const auto& [op, formats] : best) {
    RecordList& found = sorted[op];
    for (const auto& [format, r] : formats) found.push_back(r);
    std::ranges::stable_sort(found, {}, [](const Record* r) { return rank(r->format); });
  }
  return sorted;
}

// The first format of every operation, and the next ones as far as there is room for all.
std::set<const Record*> choose(const RecordList& rows, const Standing& standing) {
  const std::map<std::string, RecordList> best = best_rows(rows, standing);
  std::set<const Record*> chosen;
  for (std::size_t round = 0; round < kMostPoints; ++round) {
    RecordList next;
    for (const auto& [op, found] : best) {
      if (round < found.size()) next.push_back(found[round]);
    }
    if (round > 0 && chosen.size() + next.size() > kMostPoints) break;
    for (const Record* r : next) {
      if (chosen.size() < kMostPoints) chosen.insert(r);
    }
  }
  return chosen;
}

// The steady rows, or all where none is steady.
RecordList drawable(const std::vector<Record>& records, std::size_t& without_intensity) {
  const bool steady = std::ranges::any_of(
      records, [](const Record& r) { return verified(r) && r.regime == Regime::steady; });
  RecordList rows;
  for (const Record& r : records) {
    if (!verified(r) || (steady && r.regime != Regime::steady)) continue;
    if (r.intensity_flop_per_byte().value_or(0) > 0 && r.flops_per_s().value_or(0) > 0) {
      rows.push_back(&r);
    } else {
      ++without_intensity;
    }
  }
  return rows;
}

// The formats that have a peak of their own, where no row says which matter.
std::vector<FormatPair> formats_with_a_peak(const Roofs& roofs) {
  std::vector<FormatPair> formats;
  for (const FormatInfo& f : kFormats) {
    const auto own = [&](const Rate& rate) {
      return (rate.resource == Resource::fma || rate.resource == Resource::tensor) &&
             rate.format == f.format;
    };
    // tf32x3 is a way to multiply, with a third of tf32's peak; only ceilings compute in fp64 and
    // int8.
    const bool of_kernels =
        f.format != Format::tf32x3 && f.format != Format::fp64 && f.format != Format::int8;
    if (of_kernels && std::ranges::any_of(roofs.rates(), own)) formats.emplace_back(f.format);
  }
  return formats;
}

// One flat roof for the formats that have the same peak.
std::vector<FlatRoof> flat_roofs(const Roofs& roofs, const std::vector<FormatPair>& formats) {
  struct Group {
    std::vector<FormatPair> formats;
    double flops_per_s;
  };
  std::vector<Group> groups;
  for (const FormatPair format : formats) {
    const auto rate = roofs.arithmetic_roof(Engine::tensor, format);
    if (!rate) continue;
    const auto same = std::ranges::find(groups, rate->per_s, &Group::flops_per_s);
    if (same == groups.end()) {
      groups.push_back({{format}, rate->per_s});
    } else {
      same->formats.push_back(format);
    }
  }
  std::vector<FlatRoof> flat;
  for (const Group& g : groups) {
    std::string name = g.formats.front().name();
    if (g.formats.size() == 2) name += ", " + g.formats.back().name();
    if (g.formats.size() > 2) name += fmt::format(" and {} more", g.formats.size() - 1);
    flat.push_back({name, g.formats.front().a, g.flops_per_s});
  }
  return flat;
}

// The bandwidth of the traffic of the row with the highest intensity, whose ridge the picture
// shows. Without rows, that of a square product: two matrices are read and one is written.
void add_bandwidth(RooflinePicture& picture, const Roofs& roofs, const RecordList& rows) {
  constexpr double written_by_a_product = 1.0 / 3;
  const auto last = std::ranges::max_element(
      rows, {}, [](const Record* r) { return r->intensity_flop_per_byte(); });
  const auto rate =
      roofs.memory_roof(last == rows.end() ? written_by_a_product : (*last)->written_fraction);
  if (!rate) return;
  picture.bandwidth_bytes_per_s = rate->per_s;
  picture.bandwidth_name = rate->origin.substr(0, rate->origin.find('/'));
}

}  // namespace

RooflinePicture picture_of(const std::string& title, const Roofs& roofs,
                           const std::vector<Record>& records, const Standing& standing) {
  RooflinePicture picture{.title = title};
  const RecordList rows = drawable(records, picture.without_intensity);
  const std::set<const Record*> chosen = choose(rows, standing);
  std::vector<FormatPair> formats;
  for (const Record* r : rows) {
    std::vector<RooflinePoint>& points = chosen.contains(r) ? picture.points : picture.dots;
    points.push_back(point_of(*r, standing.doubts));
    if (chosen.contains(r) && std::ranges::find(formats, r->format) == formats.end()) {
      formats.push_back(r->format);
    }
  }
  std::ranges::stable_sort(picture.points, {}, &RooflinePoint::intensity);
  add_bandwidth(picture, roofs, {chosen.begin(), chosen.end()});
  picture.roofs = flat_roofs(roofs, formats.empty() ? formats_with_a_peak(roofs) : formats);
  return picture;
}

std::vector<RooflinePicture> read_pictures(const std::string& directory, std::string_view device) {
  const std::vector<Record> records = read_records(directory);
  Standing standing;
  const JudgedRun judged = judge(directory, records, [&](std::span<const Record> at_raised_roofs) {
    return standing = read_standing(directory, at_raised_roofs);
  });
  std::vector<RooflinePicture> pictures;
  for (const MeasuredDevice& measured : read_devices(directory)) {
    if (!device.empty() && measured.name != device) continue;
    std::vector<Record> rows = judged.records;
    std::erase_if(rows, [&](const Record& r) { return r.device != measured.name; });
    const Roofs roofs = roofs_of(directory, measured, records);
    RooflinePicture picture =
        picture_of(fmt::format("Roofline of {} ({}){}", measured.model, measured.name,
                               standing.why_unfinished ? ", interrupted run" : ""),
                   roofs, rows, standing);
    if (!roofs.empty() || !picture.points.empty()) pictures.push_back(std::move(picture));
  }
  return pictures;
}

std::vector<RooflinePicture> require_pictures(const std::string& directory,
                                              std::string_view device) {
  std::vector<RooflinePicture> pictures = read_pictures(directory, device);
  if (!pictures.empty()) return pictures;
  std::string names;
  for (const MeasuredDevice& one : read_devices(directory)) {
    if (one.name == device || device.empty()) {
      throw UsageError(fmt::format("{} holds no ceiling and no kernel with status ok{}{}",
                                   directory, device.empty() ? "" : " of device ", device));
    }
    names += (names.empty() ? "" : ", ") + one.name;
  }
  throw UsageError(fmt::format("{} has no device '{}'; allowed: {}", directory, device, names));
}

RooflinePicture picture_of_device(const std::string& device) {
  const Roofs roofs = open_roofs(device);
  const DeviceSpec* sheet = find_data_sheet(device);
  const std::string name = sheet == nullptr ? roofs.name() : sheet->title + ", data sheet";
  return picture_of("Roofline of " + name, roofs, {});
}

}  // namespace ridgebench
