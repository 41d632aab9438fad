#include "harness/base/checksum.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

// The names are those of FIPS 180-4, sections 4.1.2, 5.1.1 and 6.2.
using Word = std::uint32_t;
using Hash = std::array<Word, 8>;
constexpr std::size_t kBlock = 64;  // bytes
constexpr std::size_t kLength = 8;  // bytes of the message's length, which end the last block

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<Word, 64> kK{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The same of the square roots of the first eight primes.
constexpr Hash kFirst{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

Word sigma0(Word x) { return std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3); }
Word sigma1(Word x) { return std::rotr(x, 17) ^ std::rotr(x, 19) ^ (x >> 10); }
Word big_sigma0(Word x) { return std::rotr(x, 2) ^ std::rotr(x, 13) ^ std::rotr(x, 22); }
Word big_sigma1(Word x) { return std::rotr(x, 6) ^ std::rotr(x, 11) ^ std::rotr(x, 25); }
Word ch(Word x, Word y, Word z) { return (x & y) ^ (~x & z); }
Word maj(Word x, Word y, Word z) { return (x & y) ^ (x & z) ^ (y & z); }

void add_block(Hash& hash, std::string_view block) {
  std::array<Word, 64> w{};
  for (std::size_t i = 0; i < kBlock; ++i)
    w[i / 4] = (w[i / 4] << 8) | static_cast<unsigned char>(block[i]);
  for (std::size_t t = 16; t < w.size(); ++t)
    w[t] = sigma1(w[t - 2]) + w[t - 7] + sigma0(w[t - 15]) + w[t - 16];
  auto [a, b, c, d, e, f, g, h] = hash;
  for (std::size_t t = 0; t < w.size(); ++t) {
    const Word t1 = h + big_sigma1(e) + ch(e, f, g) + kK[t] + w[t];
    const Word t2 = big_sigma0(a) + maj(a, b, c);
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const Hash working{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < hash.size(); ++i) hash[i] += working[i];
}

}  // namespace

std::string sha256(std::string_view text) {
  const std::uint64_t bits = 8 * std::uint64_t{text.size()};
  Hash hash = kFirst;
  for (; text.size() >= kBlock; text.remove_prefix(kBlock)) add_block(hash, text.substr(0, kBlock));
  std::string tail{text};
  tail += '\x80';
  while (tail.size() % kBlock != kBlock - kLength) tail += '\0';
  for (std::size_t i = kLength; i-- > 0;) tail += static_cast<char>(bits >> (8 * i));
  for (std::size_t at = 0; at < tail.size(); at += kBlock)
    add_block(hash, std::string_view{tail}.substr(at, kBlock));
  std::string hex;
  for (const Word word : hash) hex += fmt::format("{:08x}", word);
  return hex;
}

std::string sha256_of_file(const std::filesystem::path& path) {
  return sha256(read_file(path.string()));
}

}  // namespace ridgebench
