#include "kernels/common/sweep.hpp"

#include <algorithm>
#include <initializer_list>

namespace ridgepoint {

std::int64_t dram_elements(const Machine& machine, double bytes_per_element) {
  const double wanted = 8.0 * static_cast<double>(machine.last_level_cache_bytes());
  std::int64_t elements = 1;
  while (static_cast<double>(elements) * bytes_per_element < wanted) elements *= 2;
  return elements;
}

std::vector<Shape> vector_sweep(Profile profile, Pace pace, const Machine& machine,
                                double bytes_per_element) {
  const std::int64_t largest = dram_elements(machine, bytes_per_element);
  std::vector<Shape> shapes;
  const auto add = [&](std::initializer_list<std::int64_t> divisors) {
    for (const std::int64_t divisor : divisors) {
      shapes.push_back(Shape({{"n", std::max<std::int64_t>(largest / divisor, 1)}}));
    }
  };
  // A naive conversion is some ten times slower than memory.
  add({pace == Pace::naive ? 4 : 1});
  if (profile != Profile::quick) add({64, 1024, 16384});
  if (profile == Profile::full) add({2, 8, 256, 4096, 65536});
  return shapes;
}

}  // namespace ridgepoint
