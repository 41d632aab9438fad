#include "kernels/common/sweep.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace ridgebench {
namespace {

constexpr std::int64_t kMostNaiveElements = std::int64_t{1} << 21U;

}  // namespace

std::int64_t dram_elements(const Machine& machine, double bytes_per_element) {
  const std::int64_t evicting = std::min(8 * machine.last_level_cache_bytes(), kMostEvictingBytes);
  const auto wanted = static_cast<double>(std::max(evicting, machine.long_launch_bytes));
  std::int64_t elements = 1;
  while (static_cast<double>(elements) * bytes_per_element < wanted) elements *= 2;
  return elements;
}

std::int64_t most_elements(Pace pace, const Machine& machine, double bytes_per_element) {
  const std::int64_t largest = dram_elements(machine, bytes_per_element);
  // A naive conversion is some ten times slower than memory.
  return pace == Pace::naive ? std::min(largest / 16, kMostNaiveElements) : largest;
}

std::vector<Shape> vector_sweep(Profile profile, Pace pace, const Machine& machine,
                                double bytes_per_element) {
  const std::int64_t largest = most_elements(pace, machine, bytes_per_element);
  std::vector<Shape> shapes;
  const auto add = [&](std::initializer_list<std::int64_t> divisors) {
    for (const std::int64_t divisor : divisors) {
      const Shape shape({{"n", std::max<std::int64_t>(largest / divisor, 1)}});
      // On a machine with tiny caches several sizes come down to one element.
      if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
    }
  };
  add({1});
  if (at_least_standard(profile)) add({64, 1024, 16384});
  if (profile == Profile::full) add({2, 8, 256, 4096, 65536});
  return shapes;
}

std::vector<Shape> row_sweep(Profile profile, Pace pace, const Machine& machine,
                             double bytes_per_element, std::int64_t columns) {
  if (profile == Profile::lecture) return {};
  const std::int64_t largest = most_elements(pace, machine, bytes_per_element);
  std::vector<Shape> shapes;
  const auto add = [&](std::int64_t elements, std::int64_t n) {
    const Shape shape({{"m", std::max<std::int64_t>(elements / n, 1)}, {"n", n}});
    if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
  };
  add(largest, columns);
  if (at_least_standard(profile)) {
    for (const std::int64_t divisor : {16, 256}) add(largest / divisor, columns);
  }
  if (profile == Profile::full) {
    for (const std::int64_t n : {columns / 16, columns * 8, columns - 1}) add(largest, n);
  }
  return shapes;
}

std::vector<Shape> matrix_sweep(Profile profile, Pace pace, const Machine& machine,
                                double bytes_per_element) {
  const auto matrix = [](std::int64_t m, std::int64_t n) { return Shape({{"m", m}, {"n", n}}); };
  const auto elements = static_cast<std::uint64_t>(dram_elements(machine, bytes_per_element));
  const std::int64_t side = std::int64_t{1} << ((std::bit_width(elements)) / 2);
  const std::int64_t first = pace == Pace::naive ? side / 4 : side;
  std::vector<Shape> shapes{matrix(first, first)};
  if (at_least_standard(profile)) {
    for (const std::int64_t n : {side / 4, side / 16}) shapes.push_back(matrix(n, n));
  }
  if (profile == Profile::full) {
    for (const std::int64_t n : {side / 2, side / 8, side / 64}) shapes.push_back(matrix(n, n));
    shapes.push_back(matrix(4 * side, side / 4));
    shapes.push_back(matrix(side / 4 + 1, 4 * side - 1));
  }
  return shapes;
}

}  // namespace ridgebench
