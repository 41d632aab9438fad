// Where a roofline's values lie on a canvas of dots.
#pragma once

#include "harness/cli/terminal/roofline.hpp"

namespace ridgebench {

// Logarithmic axes whose decades have one length, so that bandwidth is a line at 45 degrees.
struct Axes {
  double x_low = 0, x_high = 0;  // log10 of FLOP/byte
  double y_low = 0, y_high = 0;  // log10 of FLOP/s
  double dots_per_decade = 0;
  int columns = 0, rows = 0;  // cells of the canvas

  // The dot of a value, from the left and from the top. It may lie off the canvas.
  [[nodiscard]] int across(double intensity) const;
  [[nodiscard]] int down(double flops_per_s) const;
  [[nodiscard]] bool shows(double intensity, double flops_per_s) const;
};

// Returns axes that hold the roofs and the points, on a canvas of at most these cells. The picture
// has a roof or a point.
Axes fit_axes(const RooflinePicture& picture, int most_columns, int most_rows);

}  // namespace ridgebench
