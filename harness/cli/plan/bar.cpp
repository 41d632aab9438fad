#include "harness/cli/plan/bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace ridgebench {
namespace {

constexpr std::size_t kBarColumns = 60;
constexpr std::string_view kBarMargin = "  ";
// Neighbours differ, and letters below name the parts.
constexpr std::array<std::string_view, 4> kShades{"\u2588", "\u2592", "\u2593", "\u2591"};
constexpr std::string_view kMemoryEnd = "\u2503";  // where the memory ends

struct Cell {
  std::size_t part;
  char letter;
};

// The columns of all parts, one after the other, without the rest of the memory.
std::vector<Cell> cells_of(const PlanAnswer& parts, double bytes_per_column) {
  std::vector<Cell> cells;
  double sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double bytes = parts[i]["bytes"].get<double>();
    sum += bytes;
    const auto end = static_cast<std::size_t>(std::lround(sum / bytes_per_column));
    const std::size_t least = cells.size() + (bytes > 0 ? 1 : 0);
    const char letter = parts[i]["letter"].get<std::string>().front();
    cells.resize(std::max(end, least), {i, letter});
  }
  return cells;
}

// The letters of the parts, each below the middle of its columns.
std::string letters_of(const std::vector<Cell>& cells) {
  std::string line(cells.size(), ' ');
  for (std::size_t begin = 0; begin < cells.size();) {
    std::size_t end = begin;
    while (end < cells.size() && cells[end].part == cells[begin].part) ++end;
    line[(begin + end - 1) / 2] = cells[begin].letter;
    begin = end;
  }
  return line;
}

}  // namespace

std::string memory_bar(const PlanAnswer& answer, bool utf8) {
  const double memory = answer["memory_bytes"].get<double>();
  const double all = std::max(memory, answer["bytes"].get<double>());
  const std::vector<Cell> cells = cells_of(answer["parts"], all / kBarColumns);
  const auto end = static_cast<std::size_t>(std::lround(memory / all * kBarColumns));
  std::string bar;
  std::string letters = letters_of(cells);
  for (std::size_t i = 0; i <= std::max(end, cells.size()); ++i) {
    if (i == end) {
      bar += utf8 ? kMemoryEnd : "|";
      if (end < letters.size()) letters.insert(end, 1, ' ');
    }
    if (i < cells.size()) {
      if (utf8) {
        bar += kShades.at(cells[i].part % kShades.size());
      } else {
        bar += cells[i].letter;
      }
    } else if (i < end) {
      bar += ' ';
    }
  }
  letters.erase(letters.find_last_not_of(' ') + 1);
  std::string text = fmt::format("{}{}\n", kBarMargin, bar);
  if (utf8) text += fmt::format("{}{}\n", kBarMargin, letters);
  const std::string_view mark = utf8 ? kMemoryEnd : "|";
  return text + fmt::format("{}{} is the end of the device's memory\n", kBarMargin, mark);
}

}  // namespace ridgebench
