// The legend of a terminal's roofline: a letter, a name, the rate and its share of the roof.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/terminal/roofline.hpp"

namespace ridgebench {

struct LegendLine {
  std::string text;
  Hue hue = Hue::plain;  // of the first character, which is the point's letter
  std::optional<std::size_t> mark = std::nullopt;  // where kRaised.ascii stands
};

// The mark of a share above the roof that judged the row, as in the figures.
struct Mark {
  char32_t character;
  char ascii;
};
inline constexpr Mark kRaised{U'\u2191', '^'};

// The letter of a point on the canvas: a, b, c ...
char letter_of(std::size_t point);

// Cells of the widest line if each point has one line, or two.
int width_in_one_line(const RooflinePicture& picture);
int width_in_two_lines(const RooflinePicture& picture);

// Returns the lines, each cut to `width` cells.
std::vector<LegendLine> legend_lines(const RooflinePicture& picture, bool one_line, int width);

// Returns ASCII text of at most `width` cells; '?' takes the place of each other character. A text
// that is cut ends in dots.
std::string fitted_text(std::string_view text, int width);

}  // namespace ridgebench
