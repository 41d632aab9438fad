#include "harness/cli/terminal/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/terminal/axes.hpp"
#include "harness/cli/terminal/drawing.hpp"
#include "harness/cli/terminal/legend.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

constexpr int kBeforeLegend = 3;
constexpr int kFewestCanvasColumns = 36;
constexpr int kFewestLegendColumns = 26;
// A terminal of 80 columns usually has 24 rows, a wider one more.
constexpr int kWide = 100;
constexpr int kMostCanvasRows = 17;
constexpr int kMostCanvasRowsOfWide = 22;

// How the canvas and the legend share the columns.
struct Shares {
  int canvas_columns;
  int legend_columns;
  bool one_line;
  bool beside;
};

Shares share_columns(const RooflinePicture& picture, int columns) {
  const int room = columns - kTickColumns;
  const int one = width_in_one_line(picture);
  if (one == 0) return {room, 0, true, true};
  const int beside = room - kBeforeLegend - kFewestCanvasColumns;
  if (one <= beside) return {room - kBeforeLegend - one, one, true, true};
  if (beside < kFewestLegendColumns) return {room, columns, true, false};
  const int two = std::min(width_in_two_lines(picture), beside);
  return {room - kBeforeLegend - two, two, false, true};
}

std::string roofs_text(const RooflinePicture& picture) {
  std::string text;
  if (picture.bandwidth_bytes_per_s) {
    text = fmt::format("memory {}", with_unit(*picture.bandwidth_bytes_per_s, "B/s"));
    if (!picture.bandwidth_name.empty()) text += fmt::format(" ({})", picture.bandwidth_name);
  }
  for (const FlatRoof& roof : picture.roofs) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", roof.name,
                        with_unit(roof.flops_per_s, "FLOP/s"));
  }
  return text;
}

}  // namespace

Hue hue_of(Format format) {
  switch (format) {
    case Format::fp32:
      return Hue::green;
    case Format::fp16:
      return Hue::red;
    case Format::bf16:
      return Hue::blue;
    case Format::fp8_e4m3:
    case Format::fp8_e5m2:
      return Hue::magenta;
    default:
      return Hue::plain;
  }
}

std::vector<std::string> draw_roofline(const RooflinePicture& picture, const RooflineStyle& style) {
  const bool empty =
      picture.points.empty() && picture.roofs.empty() && !picture.bandwidth_bytes_per_s;
  if (empty || style.columns < kFewestColumns) return {};
  const int columns = std::min(style.columns, kMostColumns);
  const Shares shares = share_columns(picture, columns);
  const Axes axes = fit_axes(picture, shares.canvas_columns,
                             columns < kWide ? kMostCanvasRows : kMostCanvasRowsOfWide);
  const std::vector<LegendLine> legend =
      legend_lines(picture, shares.one_line, shares.legend_columns);
  const int legend_rows = static_cast<int>(legend.size());
  const int canvas_rows = kTop + axes.rows + kBottom;
  const int gap = shares.beside && legend_rows > 0 ? kBeforeLegend : 0;
  const int drawn =
      shares.beside ? kTickColumns + axes.columns + gap + shares.legend_columns : columns;
  const std::string title = fitted_text(picture.title, columns);
  const std::string roofs = fitted_text(roofs_text(picture), columns);
  const int width =
      std::max({drawn, static_cast<int>(title.size()), static_cast<int>(roofs.size())});
  const int first = shares.beside ? kTop : canvas_rows;
  Page page(width, std::max(canvas_rows, first + legend_rows));
  page.text(0, 0, title);
  page.text(0, 1, roofs);
  draw_canvas(picture, axes, page);
  for (int i = 0; i < legend_rows; ++i) {
    const auto& [text, hue, mark] = legend[static_cast<std::size_t>(i)];
    const int column = shares.beside ? kTickColumns + axes.columns + gap : 0;
    page.text(column, first + i, text);
    if (hue != Hue::plain) page.text(column, first + i, text.substr(0, 1), hue);
    if (mark) {
      page.glyph(column + static_cast<int>(*mark), first + i, kRaised.character, kRaised.ascii);
    }
  }
  return page.lines(style.page);
}

}  // namespace ridgebench
