// The picture is text, so the tests compare it with files that a reviewer can read.
#include "harness/cli/terminal/roofline.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <ranges>

#include "harness/cli/terminal/axes.hpp"

namespace ridgebench {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string drawn(const RooflinePicture& picture, int columns, bool braille) {
  return joined(draw_roofline(picture, {columns, {.braille = braille}}));
}

// A GPU with a path of matmul, made up.
RooflinePicture gpu_picture() {
  RooflinePicture p{.title = "Roofline of a made-up GPU (cuda:0)",
                    .bandwidth_bytes_per_s = 3e12,
                    .bandwidth_name = "dram_read"};
  p.roofs = {{"fp32", Format::fp32, 6e13}, {"bf16", Format::bf16, 8e14}};
  p.points = {{.25, 7e11, Format::bf16, "relu vec16", "bf16", .93},
              {5, 1.4e13, Format::bf16, "gelu exp2_polynomial", "bf16", .96},
              {1365, 5e13, Format::fp32, "matmul ffma_tma", "fp32", .83},
              {2731, 7e14, Format::bf16, "matmul wgmma_persistent", "bf16", .88},
              {2731, 7e14, Format::bf16, "matmul_gelu wgmma_persistent", "bf16", std::nullopt}};
  for (const double n : {128, 256, 512, 1024, 2048}) {
    p.dots.push_back({n / 3, std::min(6e14, n / 3 * 1.5e12), Format::bf16});
  }
  return p;
}

RooflinePicture host_picture() {
  RooflinePicture p{.title = "Roofline of a made-up host (cpu)",
                    .bandwidth_bytes_per_s = 2e10,
                    .bandwidth_name = "dram_copy"};
  p.roofs = {{"fp32", Format::fp32, 1.3e11}};
  p.points = {{.125, 2.4e9, Format::fp32, "relu streaming", "fp32", .96},
              {170, 1.2e11, Format::fp32, "matmul packed", "fp32", .92}};
  p.without_intensity = 2;
  return p;
}

// Columns that a terminal gives the line: every character of these pictures takes one.
std::size_t width_of(const std::string& line) {
  return static_cast<std::size_t>(
      std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string without_escapes(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = line.find('m', i);
    } else {
      text += line[i];
    }
  }
  return text;
}

struct GoldenPicture {
  const char* file;
  RooflinePicture picture;
  int columns;
  bool braille;
};

class Golden : public ::testing::TestWithParam<GoldenPicture> {};

TEST_P(Golden, IsThePictureOfTheFile) {
  const std::string path =
      std::string(RIDGEBENCH_SOURCE_DIR "/tests/harness/cli/terminal/golden/") + GetParam().file +
      ".txt";
  std::ifstream file(path);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(drawn(GetParam().picture, GetParam().columns, GetParam().braille), expected) << path;
}

INSTANTIATE_TEST_SUITE_P(Pictures, Golden,
                         ::testing::Values(GoldenPicture{"gpu-80", gpu_picture(), 80, true},
                                           GoldenPicture{"gpu-80-ascii", gpu_picture(), 80, false},
                                           GoldenPicture{"gpu-120", gpu_picture(), 120, true},
                                           GoldenPicture{"gpu-120-ascii", gpu_picture(), 120,
                                                         false},
                                           GoldenPicture{"host-60", host_picture(), 60, true},
                                           GoldenPicture{"host-80", host_picture(), 80, true}),
                         [](const auto& golden) {
                           std::string name = golden.param.file;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

RooflinePicture random_picture(std::mt19937& random) {
  const auto between = [&](double low, double high) {
    return std::pow(10, std::uniform_real_distribution(low, high)(random));
  };
  const auto few = [&](int most) { return std::uniform_int_distribution(0, most)(random); };
  RooflinePicture p{.title = std::string(static_cast<std::size_t>(few(200)), 't')};
  if (few(4) > 0) p.bandwidth_bytes_per_s = between(8, 14);
  for (int i = few(5); i > 0; --i) p.roofs.push_back({"fp8_e4m3", Format::bf16, between(9, 16)});
  for (int i = few(10); i > 0; --i) {
    p.points.push_back({between(-2, 5), between(7, 16), Format::fp32,
                        std::string(static_cast<std::size_t>(few(60)), 'n'), "fp16", .5});
  }
  for (int i = few(40); i > 0; --i)
    p.dots.push_back({between(-4, 7), between(5, 18), Format::fp16});
  return p;
}

TEST(TerminalRoofline, LinesHaveOneWidthThatTheTerminalHas) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const RooflinePicture picture = random_picture(random);
    const int columns = std::uniform_int_distribution(kFewestColumns, 200)(random);
    const auto lines = draw_roofline(picture, {columns, {.braille = true}});
    for (const std::string& line : lines) {
      ASSERT_EQ(width_of(line), width_of(lines.front())) << joined(lines);
      ASSERT_LE(width_of(line), static_cast<std::size_t>(columns)) << joined(lines);
    }
    const auto ascii = draw_roofline(picture, {columns, {.braille = false}});
    ASSERT_EQ(ascii.size(), lines.size());
    for (const std::string& line : ascii) {
      ASSERT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; })) << line;
    }
    const auto colored = draw_roofline(picture, {columns, {.braille = true, .color = true}});
    for (std::size_t j = 0; j < lines.size(); ++j) {
      ASSERT_EQ(without_escapes(colored[j]), lines[j]);
    }
  }
}

TEST(TerminalRoofline, BandwidthIsALineAtFortyFiveDegrees) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    RooflinePicture picture = random_picture(random);
    picture.bandwidth_bytes_per_s = 1e12;
    const Axes axes = fit_axes(picture, 60, 22);
    EXPECT_LE(axes.columns, 60);
    EXPECT_LE(axes.rows, 22);
    const int right = axes.across(10) - axes.across(1);
    const int up = axes.down(1e12) - axes.down(1e13);
    EXPECT_NEAR(right, up, 1);  // a dot, by rounding
  }
}

TEST(TerminalRoofline, AGpuHasTeraflopsAndAHostGigaflops) {
  EXPECT_THAT(drawn(gpu_picture(), 80, false), HasSubstr("\nTFLOP/s "));
  EXPECT_THAT(drawn(host_picture(), 80, false), HasSubstr("\nGFLOP/s "));
  EXPECT_THAT(drawn(host_picture(), 80, false), HasSubstr("ridge 6.5 "));
}

TEST(TerminalRoofline, NamesAreInert) {
  RooflinePicture picture = host_picture();
  const std::string hostile = "\x1b[2J\r\n\a\u202e\u200b\u4e2d\U0001f600\xff%s{}";
  picture.title = hostile;
  picture.bandwidth_name = hostile;
  picture.roofs.front().name = hostile;
  picture.points.front().name = hostile;
  picture.points.front().format_name = hostile + hostile + hostile;
  for (const int columns : {60, 80, 120}) {
    const auto lines = draw_roofline(picture, {columns, {.braille = false}});
    ASSERT_FALSE(lines.empty());
    for (const std::string& line : lines) {
      EXPECT_EQ(line.size(), lines.front().size());
      EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; })) << line;
    }
  }
  EXPECT_THAT(drawn(picture, 80, false), HasSubstr("?[2J????????%s{}"));
}

TEST(TerminalRoofline, RoofsAloneHaveNoLegend) {
  RooflinePicture picture = gpu_picture();
  picture.points.clear();
  picture.dots.clear();
  const std::string text = drawn(picture, 80, false);
  EXPECT_THAT(text, HasSubstr("ridge 267"));
  EXPECT_THAT(text, HasSubstr("ridge 20 "));
  EXPECT_THAT(text, HasSubstr("bf16 800 TFLOP/s"));
  EXPECT_THAT(text, HasSubstr("3 TB/s"));
  EXPECT_THAT(text, Not(HasSubstr("roof\n")));
}

TEST(TerminalRoofline, OneRowIsEnough) {
  RooflinePicture picture;
  picture.points = {{1, 1e10, Format::fp32, "own kernel", "fp32", std::nullopt}};
  const std::string text = drawn(picture, 80, false);
  EXPECT_THAT(text, HasSubstr("a  own kernel"));
  EXPECT_THAT(text, Not(HasSubstr("ridge")));
}

TEST(TerminalRoofline, NothingIsDrawnOfNothingOrOnANarrowTerminal) {
  EXPECT_THAT(draw_roofline({.title = "empty"}, {}), IsEmpty());
  EXPECT_THAT(draw_roofline(gpu_picture(), {kFewestColumns - 1, {}}), IsEmpty());
  EXPECT_THAT(draw_roofline(gpu_picture(), {0, {}}), IsEmpty());
}

TEST(TerminalRoofline, AbsurdValuesCostTheirOwnPlaceOnly) {
  RooflinePicture picture = host_picture();
  picture.points.push_back({1e300, 1e-300, Format::fp16, "absurd", "fp16", 1e300});
  picture.dots = {{1e-300, 1e300, Format::fp16}, {1, 1e10, Format::fp32}};
  const std::string text = drawn(picture, 120, false);
  EXPECT_THAT(text, HasSubstr("c  absurd"));
  EXPECT_THAT(text, HasSubstr("b  matmul packed"));
  EXPECT_THAT(text, HasSubstr(">1000 %"));
}

TEST(TerminalRoofline, ARoofWithoutAnEndEndsTheDrawing) {
  RooflinePicture picture = host_picture();
  picture.roofs = {{"fp32", Format::fp32, HUGE_VAL}};
  EXPECT_THAT(drawn(picture, 80, false), HasSubstr("FLOP/byte"));
  picture.bandwidth_bytes_per_s = HUGE_VAL;
  EXPECT_THAT(drawn(picture, 80, false), HasSubstr("FLOP/byte"));
}

TEST(TerminalRoofline, LettersOfRowsAtOnePlaceStandSideBySide) {
  RooflinePicture picture = host_picture();
  picture.points.assign(kMostPoints, {1, 1e10, Format::fp32, "twin", "fp32", .5});
  const std::string text = drawn(picture, 80, false);
  EXPECT_THAT(text, HasSubstr("hcabg"));
}

TEST(TerminalRoofline, ALetterHasTheColourOfItsFormat) {
  const std::string text =
      joined(draw_roofline(gpu_picture(), {80, {.braille = true, .color = true}}));
  EXPECT_THAT(text, HasSubstr("\x1b[94ma"));  // bf16: bright blue
  EXPECT_THAT(text, HasSubstr("\x1b[32mc"));  // fp32: green
  EXPECT_THAT(drawn(gpu_picture(), 80, true), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ridgebench
