#include "harness/base/checksum.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

// NIST's examples of SHA-256 for FIPS 180-4, and the empty message.
TEST(Checksum, ExamplesOfTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Each length from nothing to more than four blocks, with bytes above 127. The expected value is
// Python's:
//   text = bytes(i % 251 for i in range(300))
//   sha256("".join(sha256(text[:n]).hexdigest() for n in range(301)).encode()).hexdigest()
TEST(Checksum, EveryLengthAroundTheBlocks) {
  std::string text;
  std::string sums = sha256(text);
  for (std::size_t i = 0; i < 300; ++i) {
    text += static_cast<char>(i % 251);
    sums += sha256(text);
  }
  EXPECT_EQ(sha256(sums), "b80fadb149bc8cb5eeb5c5cb543942b4b72871d6b176e21baa5c60f6198e4122");
}

TEST(Checksum, OfAFileIsThatOfItsBytes) {
  const TemporaryDirectory folder;
  const std::string bytes("a\0\r\n\xff", 5);
  std::ofstream(folder / "bytes", std::ios::binary) << bytes;
  EXPECT_EQ(sha256_of_file(folder / "bytes"), sha256(bytes));
}

}  // namespace
}  // namespace ridgebench
