// The roofline as a terminal shows it: a canvas of dots with a legend beside it. Everything here is
// pure, and a picture holds all that is drawn.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/terminal/page.hpp"
#include "kernels/common/format.hpp"

namespace ridgebench {

// A terminal with fewer columns gets no picture.
inline constexpr int kFewestColumns = 60;
inline constexpr int kMostColumns = 140;
inline constexpr std::size_t kMostPoints = 8;

struct FlatRoof {
  std::string name;  // "bf16", "fp16, bf16"
  Format format = Format::fp32;
  double flops_per_s = 0;
};

struct RooflinePoint {
  double intensity = 0;  // FLOP/byte
  double flops_per_s = 0;
  Format format = Format::fp32;
  std::string name = {};         // operation and technique
  std::string format_name = {};  // of a mixed pair too
  std::optional<double> share_of_roof = std::nullopt;
  bool raised_its_roof = false;  // it was faster than a ceiling
  bool doubted = false;          // the roof moved during the run
};

// All rates are positive. Texts may come from files and hold anything.
struct RooflinePicture {
  std::string title;
  std::optional<double> bandwidth_bytes_per_s = std::nullopt;
  std::string bandwidth_name = {};  // of what reached it
  std::vector<FlatRoof> roofs = {};
  std::vector<RooflinePoint> points = {};  // with letter and legend, kMostPoints at most
  std::vector<RooflinePoint> dots = {};    // the other rows
  std::size_t without_intensity = 0;       // rows that no roofline can show
};

struct RooflineStyle {
  int columns = 80;
  PageStyle page = {};
};

// Returns lines of one display width, at most `columns`; none where the picture holds nothing or
// the terminal is too narrow.
std::vector<std::string> draw_roofline(const RooflinePicture& picture, const RooflineStyle& style);

// The hue of a format, as the figures have it: fp32 green, fp16 vermillion, bf16 blue, fp8 purple.
Hue hue_of(Format format);

}  // namespace ridgebench
