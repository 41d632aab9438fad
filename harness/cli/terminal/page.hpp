// A page of character cells for a terminal, with text and with braille dots: each cell has two
// columns of four dots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

inline constexpr int kDotsAcross = 2;  // of a cell
inline constexpr int kDotsDown = 4;

// Colours that every terminal with 16 colours has and that read on black and on white.
enum class Hue : std::uint8_t { plain, red, green, blue, magenta };

struct PageStyle {
  bool braille = true;  // false: only ASCII
  bool color = false;
};

class Page {
 public:
  Page(int columns, int rows);

  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int rows() const { return static_cast<int>(cells_.size()) / columns_; }

  // Sets a dot, counted from the left and from the top of the page. In ASCII the cell shows
  // `ascii`.
  void dot(int across, int down, Hue hue, char ascii);
  // Writes ASCII text from a cell on. Each function leaves out what lies off the page.
  void text(int column, int row, std::string_view text, Hue hue = Hue::plain);
  // Writes one character that has another form in ASCII.
  void glyph(int column, int row, char32_t character, char ascii, Hue hue = Hue::plain);
  // True if cells of the page have neither text nor dots.
  [[nodiscard]] bool is_empty(int column, int row, int cells) const;
  [[nodiscard]] bool has_text(int column, int row) const;

  // Returns the lines without their ends. All have the display width of the page.
  [[nodiscard]] std::vector<std::string> lines(const PageStyle& style) const;

 private:
  struct Cell {
    char32_t character = 0;  // 0: dots, or nothing
    std::uint8_t dots = 0;   // bits of Unicode's braille patterns
    char ascii = ' ';
    Hue hue = Hue::plain;
  };
  [[nodiscard]] bool holds(int column, int row) const;
  [[nodiscard]] std::size_t index_of(int column, int row) const;
  [[nodiscard]] Cell& at(int column, int row);
  [[nodiscard]] const Cell& at(int column, int row) const;

  int columns_;
  std::vector<Cell> cells_;
};

}  // namespace ridgebench
