#include "harness/cli/terminal/page.hpp"

#include <array>
#include <cstddef>

namespace ridgebench {
namespace {

constexpr char32_t kBraille = 0x2800;  // the pattern without dots
// The bit of each dot by its row and column (Unicode, Braille Patterns).
constexpr std::array<std::array<std::uint8_t, kDotsAcross>, kDotsDown> kBits{
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

// RFC 3629, for the characters below U+10000 that a page has.
std::string utf8(char32_t c) {
  const auto tail = [&](unsigned shift) {
    return static_cast<char>(0x80U | ((static_cast<unsigned>(c) >> shift) & 0x3fU));
  };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0U | (c >> 6U)), tail(0)};
  return {static_cast<char>(0xe0U | (c >> 12U)), tail(6), tail(0)};
}

std::string_view escape(Hue hue) {
  switch (hue) {
    case Hue::red:
      return "\x1b[31m";
    case Hue::green:
      return "\x1b[32m";
    case Hue::blue:
      return "\x1b[94m";  // plain blue is hard to read on black
    case Hue::magenta:
      return "\x1b[35m";
    default:
      return "\x1b[0m";
  }
}

}  // namespace

Page::Page(int columns, int rows)
    : columns_(columns),
      cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

bool Page::holds(int column, int row) const {
  return column >= 0 && column < columns_ && row >= 0 && row < rows();
}

std::size_t Page::index_of(int column, int row) const {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
         static_cast<std::size_t>(column);
}

Page::Cell& Page::at(int column, int row) { return cells_[index_of(column, row)]; }

const Page::Cell& Page::at(int column, int row) const { return cells_[index_of(column, row)]; }

void Page::dot(int across, int down, Hue hue, char ascii) {
  if (across < 0 || down < 0 || !holds(across / kDotsAcross, down / kDotsDown)) return;
  Cell& cell = at(across / kDotsAcross, down / kDotsDown);
  if (cell.character != 0) return;
  const auto row = static_cast<std::size_t>(down % kDotsDown);
  cell.dots |= kBits.at(row).at(static_cast<std::size_t>(across % kDotsAcross));
  cell.ascii = ascii;
  cell.hue = hue;
}

void Page::text(int column, int row, std::string_view text, Hue hue) {
  for (const char c : text) glyph(column++, row, static_cast<unsigned char>(c), c, hue);
}

void Page::glyph(int column, int row, char32_t character, char ascii, Hue hue) {
  if (!holds(column, row)) return;
  at(column, row) = {.character = character, .ascii = ascii, .hue = hue};
}

bool Page::is_empty(int column, int row, int cells) const {
  for (int i = column; i < column + cells; ++i) {
    if (!holds(i, row) || at(i, row).character != 0 || at(i, row).dots != 0) return false;
  }
  return true;
}

bool Page::has_text(int column, int row) const {
  return holds(column, row) && at(column, row).character != 0;
}

std::vector<std::string> Page::lines(const PageStyle& style) const {
  std::vector<std::string> lines;
  for (int row = 0; row < rows(); ++row) {
    std::string line;
    Hue now = Hue::plain;
    for (int column = 0; column < columns_; ++column) {
      const Cell& cell = at(column, row);
      if (style.color && cell.hue != now) line += escape(now = cell.hue);
      if (!style.braille || (cell.character == 0 && cell.dots == 0)) {
        line += cell.ascii;
      } else {
        line += utf8(cell.character != 0 ? cell.character : kBraille + cell.dots);
      }
    }
    if (now != Hue::plain) line += escape(Hue::plain);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace ridgebench
