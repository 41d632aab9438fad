// The canvas of a terminal's roofline: axes, roofs, dots and letters.
#pragma once

#include "harness/cli/terminal/axes.hpp"
#include "harness/cli/terminal/page.hpp"
#include "harness/cli/terminal/roofline.hpp"

namespace ridgebench {

// The cells of the page around the canvas.
inline constexpr int kTickColumns = 7;  // at the left: a tick's number and the axis
inline constexpr int kTop = 3;          // rows of the title, of the roofs and of the unit
inline constexpr int kBottom = 3;       // rows of the axis, of its numbers and of its unit

// The canvas begins at (kTickColumns, kTop).
void draw_canvas(const RooflinePicture& picture, const Axes& axes, Page& page);

}  // namespace ridgebench
