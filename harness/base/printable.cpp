#include "harness/base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>

namespace ridgebench {
namespace {

struct Character {
  char32_t code;
  std::size_t bytes;
};

constexpr Character kNoCharacter{0, 1};  // a control character represents a byte that is not UTF-8

// Decodes the first character of a text that is not empty (RFC 3629).
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || bytes > text.size()) return kNoCharacter;
  char32_t code = byte(0) & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return kNoCharacter;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[bytes] || surrogate || code > 0x10ffff) return kNoCharacter;
  return {code, bytes};
}

struct Block {
  char32_t first;
  char32_t last;
};
// Unicode's control characters and line separators, its format characters, which reorder or hide
// text, and two code points that are no characters, which XML refuses.
constexpr std::array kHidden{
    Block{0x00, 0x1f},     Block{0x7f, 0x9f},     Block{0xad, 0xad},     Block{0x61c, 0x61c},
    Block{0x180e, 0x180e}, Block{0x200b, 0x200f}, Block{0x2028, 0x202e}, Block{0x2060, 0x206f},
    Block{0xfeff, 0xfeff}, Block{0xfff9, 0xfffb}, Block{0xfffe, 0xffff}, Block{0xe0000, 0xe007f},
};

bool hidden(char32_t code) {
  return std::ranges::any_of(kHidden,
                             [&](const Block& b) { return code >= b.first && code <= b.last; });
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    shown += hidden(character.code) ? "?" : text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
  }
  return shown;
}

std::string wrapped(const std::string& text, std::size_t margin,
                    const std::optional<std::size_t>& columns) {
  constexpr std::size_t kNarrowest = 20;
  if (!columns || *columns < margin + kNarrowest) return text;
  std::string result;
  std::size_t at = margin;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool first = at == margin;
    if (!first && at + 1 + word.size() > *columns) {
      result += '\n' + std::string(margin, ' ') + word;
      at = margin + word.size();
    } else {
      result += (first ? "" : " ") + word;
      at += word.size() + (first ? 0 : 1);
    }
  }
  return result;
}

}  // namespace ridgebench
