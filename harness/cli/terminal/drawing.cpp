#include "harness/cli/terminal/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "harness/cli/terminal/legend.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

struct AxisUnit {
  double scale;
  std::string_view text;
};

// GPUs are drawn in TFLOP/s, hosts in GFLOP/s.
AxisUnit unit_of(const RooflinePicture& picture) {
  constexpr std::array units{AxisUnit{1e12, "TFLOP/s"}, AxisUnit{1e9, "GFLOP/s"},
                             AxisUnit{1e6, "MFLOP/s"}};
  double highest = 0;
  for (const FlatRoof& roof : picture.roofs) highest = std::max(highest, roof.flops_per_s);
  for (const RooflinePoint& point : picture.points) {
    highest = std::max(highest, point.flops_per_s);
  }
  for (const AxisUnit& unit : units) {
    if (highest >= 10 * unit.scale) return unit;
  }
  return {1, "FLOP/s"};
}

// The first whole power of ten on an axis that begins at `low`, and the last one up to `high`.
int first_decade(double low) { return static_cast<int>(std::ceil(low)); }
int last_decade(double high) { return static_cast<int>(std::floor(high)); }

// Cells from a point of the slope to a text at its left.
constexpr int kBesideSlope = 2;

// Draws on a page whose canvas begins at (kTickColumns, kTop).
class Drawing {
 public:
  Drawing(const RooflinePicture& picture, const Axes& axes, Page& page)
      : picture_(&picture), axes_(&axes), page_(&page) {}

  void draw() {
    draw_frame();
    draw_numbers();
    draw_roofs();
    for (const RooflinePoint& p : picture_->dots) {
      if (axes_->shows(p.intensity, p.flops_per_s)) {
        put_block(axes_->across(p.intensity), axes_->down(p.flops_per_s), hue_of(p.format));
      }
    }
    for (const FlatRoof& roof : picture_->roofs) name_roof(roof);
    name_bandwidth();
    for (std::size_t i = 0; i < picture_->points.size(); ++i) put_letter(i);
  }

 private:
  void dot(int across, int down, Hue hue, char ascii) {
    if (across < 0 || across >= kDotsAcross * axes_->columns) return;
    if (down < 0 || down >= kDotsDown * axes_->rows) return;
    page_->dot(across + kDotsAcross * kTickColumns, down + kDotsDown * kTop, hue, ascii);
  }
  [[nodiscard]] int column(double intensity) const {
    return kTickColumns + axes_->across(intensity) / kDotsAcross;
  }
  [[nodiscard]] int row(double flops_per_s) const {
    return kTop + axes_->down(flops_per_s) / kDotsDown;
  }

  // A block of four dots distinguishes a row from the lines of single dots.
  void put_block(int across, int down, Hue hue) {
    for (const int right : {0, 1}) {
      for (const int below : {0, 1}) dot(across + right, down + below, hue, '*');
    }
  }

  void draw_frame() {
    const int left = kTickColumns - 1;
    const int bottom = kTop + axes_->rows;
    for (int r = kTop; r < bottom; ++r) page_->glyph(left, r, U'│', '|');
    page_->glyph(left, bottom, U'└', '+');
    for (int c = 0; c < axes_->columns; ++c) page_->glyph(kTickColumns + c, bottom, U'─', '-');
  }

  // A number at each decade.
  void draw_numbers() {
    const int bottom = kTop + axes_->rows;
    const AxisUnit unit = unit_of(*picture_);
    page_->text(0, kTop - 1, unit.text);
    for (int y = first_decade(axes_->y_low); y <= last_decade(axes_->y_high); ++y) {
      const double value = std::pow(10, y);
      if (row(value) >= bottom) continue;
      page_->text(0, row(value), fmt::format("{:>{}.6g}", value / unit.scale, kTickColumns - 2));
      page_->glyph(kTickColumns - 1, row(value), U'┤', '+');
    }
    const int end = kTickColumns + axes_->columns;
    int used = 0;
    for (int x = first_decade(axes_->x_low); x <= last_decade(axes_->x_high); ++x) {
      const std::string number = fmt::format("{:.6g}", std::pow(10, x));
      const int size = static_cast<int>(number.size());
      const int at = std::min(column(std::pow(10, x)), end - 1);
      if (at > kTickColumns) page_->glyph(at, bottom, U'┬', '+');
      const int first = std::min(at - size / 2, end - size);
      if (first <= used) continue;
      page_->text(first, bottom + 1, number);
      used = first + size;
    }
    constexpr std::string_view name = "FLOP/byte";
    page_->text(kTickColumns + (axes_->columns - static_cast<int>(name.size())) / 2, bottom + 2,
                name);
  }

  // The slope belongs to all roofs, and each roof is flat from its ridge on.
  void draw_roofs() {
    double highest = 0;
    for (const FlatRoof& roof : picture_->roofs) highest = std::max(highest, roof.flops_per_s);
    for (int across = 0; across < kDotsAcross * axes_->columns; ++across) {
      const double intensity = std::pow(10, axes_->x_low + across / axes_->dots_per_decade);
      const double slope = picture_->bandwidth_bytes_per_s.value_or(HUGE_VAL) * intensity;
      for (const FlatRoof& roof : picture_->roofs) {
        if (slope < roof.flops_per_s) continue;
        dot(across, axes_->down(roof.flops_per_s), hue_of(roof.format), '-');
      }
      if (!std::isfinite(slope) || (highest > 0 && slope >= highest)) continue;
      const int down = axes_->down(slope);
      dot(across, down, Hue::plain, down % kDotsDown < 2 ? '\'' : '.');
    }
  }

  // Writes a text that ends at a cell, where nothing is in its way.
  bool write_before(int end, int at_row, const std::string& text, Hue hue) {
    const int size = static_cast<int>(text.size());
    const int first = end - size;
    const bool on_canvas = first >= kTickColumns && at_row >= kTop;
    if (!on_canvas || !page_->is_empty(first, at_row, size)) return false;
    const bool beside_text = first > kTickColumns && page_->has_text(first - 1, at_row);
    if (beside_text || page_->has_text(end, at_row)) return false;
    page_->text(first, at_row, text, hue);
    return true;
  }

  // Above the flat part, which begins at `first`, as far to the right as the text has room. Half of
  // the text may stand above the slope.
  void name_flat_part(const FlatRoof& roof, int first) {
    const std::string rate = with_unit(roof.flops_per_s, "FLOP/s");
    const std::string name = fitted_text(roof.name, 24);
    const int above = row(roof.flops_per_s) - 1;
    for (const std::string& text : {fmt::format("{} {}", name, rate), name}) {
      const int least = first + static_cast<int>(text.size()) / 2;
      for (int end = kTickColumns + axes_->columns; end > least; --end) {
        if (write_before(end, above, text, hue_of(roof.format))) return;
      }
    }
  }

  void name_roof(const FlatRoof& roof) {
    const auto bandwidth = picture_->bandwidth_bytes_per_s;
    const double ridge = bandwidth ? roof.flops_per_s / *bandwidth : 0;
    const bool shown = bandwidth && axes_->shows(ridge, roof.flops_per_s);
    name_flat_part(roof, shown ? column(ridge) : kTickColumns);
    if (!shown) return;
    const int line = row(roof.flops_per_s);
    page_->text(column(ridge), line, "o");
    write_before(column(ridge) - kBesideSlope, line, fmt::format("ridge {:.3g}", ridge),
                 Hue::plain);
  }

  // Above the slope, as low as the text has room.
  void name_bandwidth() {
    if (!picture_->bandwidth_bytes_per_s) return;
    const double bandwidth = *picture_->bandwidth_bytes_per_s;
    for (int c = kTickColumns; c < kTickColumns + axes_->columns; ++c) {
      const double decades = kDotsAcross * (c - kTickColumns) / axes_->dots_per_decade;
      const double intensity = std::pow(10, axes_->x_low + decades);
      const int end = column(intensity) - kBesideSlope;
      if (!axes_->shows(intensity, intensity * bandwidth)) return;
      if (write_before(end, row(intensity * bandwidth), with_unit(bandwidth, "B/s"), Hue::plain)) {
        return;
      }
    }
  }

  // Beside the cell that holds another letter.
  void put_letter(std::size_t i) {
    const RooflinePoint& point = picture_->points[i];
    if (!axes_->shows(point.intensity, point.flops_per_s)) return;
    constexpr std::array<std::pair<int, int>, 9> places{
        {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {1, 1}, {-1, 1}, {2, 0}, {-2, 0}, {0, -1}}};
    for (const auto& [right, below] : places) {
      const int c = column(point.intensity) + right;
      const int r = row(point.flops_per_s) + below;
      const bool inside = c >= kTickColumns && c < kTickColumns + axes_->columns && r >= kTop &&
                          r < kTop + axes_->rows;
      if (!inside || page_->has_text(c, r)) continue;
      page_->text(c, r, std::string(1, letter_of(i)), hue_of(point.format));
      return;
    }
  }

  const RooflinePicture* picture_;
  const Axes* axes_;
  Page* page_;
};

}  // namespace

void draw_canvas(const RooflinePicture& picture, const Axes& axes, Page& page) {
  Drawing(picture, axes, page).draw();
}

}  // namespace ridgebench
