// format_dump encode|decode FORMAT: converts a stream for comparison with other implementations.
// encode reads floats and writes the format's bits as 32-bit words; decode is the reverse. Binary,
// native byte order.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string_view>

#include "kernels/common/format.hpp"

int main(int count, char** strings) {
  using namespace ridgebench;
  const std::span arguments(strings, static_cast<std::size_t>(count));
  if (count != 3) return 2;
  try {
    const FormatInfo& format = info(parse_format(arguments[2]));
    const bool encoding = std::string_view(arguments[1]) == "encode";
    std::uint32_t word = 0;
    while (std::fread(&word, sizeof word, 1, stdin) == 1) {
      word = encoding ? encode_bits(format, std::bit_cast<float>(word))
                      : std::bit_cast<std::uint32_t>(decode_bits(format, word));
      std::fwrite(&word, sizeof word, 1, stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
