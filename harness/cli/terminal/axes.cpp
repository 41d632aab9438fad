#include "harness/cli/terminal/axes.hpp"

#include <algorithm>
#include <cmath>

namespace ridgebench {
namespace {

// Absurd values, which a file may hold, must not squeeze the others into one dot.
constexpr double kMostDecades = 7;
constexpr double kLowestIntensity = -1;  // log10; the figures begin at 0.1 too
constexpr double kRightOfRidge = 0.8;    // decades
constexpr double kHeadroom = 0.4;        // decades above the highest roof
constexpr double kBelowLowest = 0.1;     // decades
constexpr double kDecadesOfDots = 4.5;

// A value's place on an axis. Infinity and 0 have one too: an axis without ends has no decades.
double place(double value) { return std::clamp(std::log10(value), -330.0, 330.0); }

struct Interval {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;

  void add(double value) {
    low = std::min(low, place(value));
    high = std::max(high, place(value));
  }
};

}  // namespace

int Axes::across(double intensity) const {
  const double dots = (std::log10(intensity) - x_low) * dots_per_decade;
  return static_cast<int>(std::lround(std::clamp(dots, -1e6, 1e6)));
}

int Axes::down(double flops_per_s) const {
  const double dots = (y_high - std::log10(flops_per_s)) * dots_per_decade;
  return static_cast<int>(std::lround(std::clamp(dots, -1e6, 1e6)));
}

bool Axes::shows(double intensity, double flops_per_s) const {
  const int x = across(intensity);
  const int y = down(flops_per_s);
  return x >= 0 && x < kDotsAcross * columns && y >= 0 && y < kDotsDown * rows;
}

Axes fit_axes(const RooflinePicture& picture, int most_columns, int most_rows) {
  Interval x;
  Interval y;
  for (const RooflinePoint& point : picture.points) {
    x.add(point.intensity);
    y.add(point.flops_per_s);
  }
  // The other rows may pull the axis down, but not far.
  double lowest = y.low;
  for (const RooflinePoint& dot : picture.dots) {
    lowest = std::min(lowest, place(dot.flops_per_s));
  }
  double right = std::max(kLowestIntensity + 2, x.high);
  for (const FlatRoof& roof : picture.roofs) {
    y.add(roof.flops_per_s);
    if (!picture.bandwidth_bytes_per_s) continue;
    const double ridge = place(roof.flops_per_s / *picture.bandwidth_bytes_per_s);
    right = std::max(right, ridge + kRightOfRidge);
  }
  Axes axes;
  axes.x_low = std::max(std::floor(std::min(kLowestIntensity, x.low)), kLowestIntensity - 2);
  axes.x_high = std::min(std::ceil(right), axes.x_low + kMostDecades);
  if (picture.bandwidth_bytes_per_s) {
    const double foot = place(*picture.bandwidth_bytes_per_s) + axes.x_low;
    y.low = std::min(y.low, foot);
    y.high = std::max(y.high, foot + 1);
  }
  axes.y_high = y.high + kHeadroom;
  const double low = std::min(y.low, std::max(lowest, axes.y_high - kDecadesOfDots));
  axes.y_low = std::max(low - kBelowLowest, axes.y_high - kMostDecades);
  const double across = axes.x_high - axes.x_low;
  const double down = axes.y_high - axes.y_low;
  axes.dots_per_decade =
      std::min(kDotsAcross * most_columns / across, kDotsDown * most_rows / down);
  const auto cells = [&](double decades, int dots) {
    return static_cast<int>(std::ceil(decades * axes.dots_per_decade / dots - 1e-6));
  };
  axes.columns = cells(across, kDotsAcross);
  axes.rows = cells(down, kDotsDown);
  return axes;
}

}  // namespace ridgebench
