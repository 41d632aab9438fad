// Quantities as people read them: "373 us", "989.5 TFLOP/s".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ridgebench {

// Returns four significant digits with the unit and its decimal prefix. Units with a prefix: s, B,
// B/s, FLOP, FLOP/s, results/s. Values of other units, and values beyond all prefixes, stand as
// they are.
std::string with_unit(double value, std::string_view unit);

// Returns a count as the command line takes it: "512", "53.33B".
std::string count_text(double count);

// Returns "1 row", "2 rows".
std::string counted(std::size_t number, std::string_view noun);

}  // namespace ridgebench
