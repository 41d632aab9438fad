// Ranges of sizes in the text form of a shape.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

// Most texts that one shape or one command may represent.
inline constexpr std::size_t kMostShapes = 10000;

// Returns the texts that a shape with ranges represents, the first dimension outermost, without
// duplicates. In place of a size there is a list whose items are separated by commas. An item is a
// size, `start..stop`, `start..stop:step` or `start..stop:xFACTOR`. Both ends are included if the
// steps meet them. A factor's sizes are rounded to whole numbers.
//   `m:1..8:x2/n:64,100` -> m:1/n:64, m:1/n:100, m:2/n:64, ...
// The function leaves sizes and names to parse_shape. Throws UsageError for a range that is none,
// and for more than kMostShapes texts.
std::vector<std::string> expand_shape(std::string_view text);

}  // namespace ridgebench
