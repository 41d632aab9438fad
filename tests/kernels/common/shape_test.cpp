#include "kernels/common/shape.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

const std::vector<std::string> kVector{"n"};
const std::vector<std::string> kMatmul{"m", "n", "k"};

Shape matmul_shape(std::string_view text) { return parse_shape(text, kMatmul, true); }

std::string shape_refusal(std::string_view text,
                          const std::vector<std::string>& dimensions = kMatmul) {
  try {
    (void)parse_shape(text, dimensions, dimensions.size() == 3);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Shape, TextFormRoundTrips) {
  for (const std::string_view text :
       {"m:4096/n:4096/k:4096/layout:nt", "m:1/n:3/k:1000003/layout:nn", "m:2/n:7/k:5/layout:tn"}) {
    EXPECT_EQ(matmul_shape(text).text(), text);
    EXPECT_EQ(matmul_shape(matmul_shape(text).text()), matmul_shape(text));
  }
  const Shape vector = parse_shape("n:12", kVector, false);
  EXPECT_EQ(vector.text(), "n:12");
  EXPECT_FALSE(vector.has_layout());
}

TEST(Shape, SizesAreReadByName) {
  const Shape shape = matmul_shape("m:2/n:3/k:5/layout:tn");
  EXPECT_EQ(shape["m"], 2);
  EXPECT_EQ(shape["n"], 3);
  EXPECT_EQ(shape["k"], 5);
  EXPECT_EQ(shape.layout(), Layout::tn);
  EXPECT_THROW((void)shape["q"], std::out_of_range);
}

TEST(Shape, OrderOfTheTextDoesNotMatter) {
  EXPECT_EQ(matmul_shape("layout:nn/k:3/m:1/n:2"), matmul_shape("m:1/n:2/k:3/layout:nn"));
  EXPECT_NE(matmul_shape("m:1/n:2/k:3/layout:nn"), matmul_shape("m:1/n:2/k:3/layout:nt"));
}

TEST(Shape, OneNumberIsASquareAndTheLayoutDefaultsToNt) {
  const Shape square = matmul_shape("m:64/n:64/k:64/layout:nt");
  EXPECT_EQ(matmul_shape("n:64"), square);
  EXPECT_EQ(matmul_shape("64"), square);
  EXPECT_EQ(matmul_shape("n:64/layout:tn").text(), "m:64/n:64/k:64/layout:tn");
  EXPECT_EQ(matmul_shape("64/layout:tn").text(), "m:64/n:64/k:64/layout:tn");
  EXPECT_EQ(parse_shape("1048576", kVector, false).text(), "n:1048576");
}

TEST(Shape, SizesHaveTheGrammarOfNumbers) {
  EXPECT_EQ(parse_shape("n:1e6", kVector, false).text(), "n:1000000");
  EXPECT_EQ(parse_shape("n:1M", kVector, false).text(), "n:1000000");
  EXPECT_EQ(parse_shape("1.5k", kVector, false).text(), "n:1500");
  EXPECT_EQ(matmul_shape("m:1k/n:2e3/k:3").text(), "m:1000/n:2000/k:3/layout:nt");
}

TEST(Shape, AttributesAreNumbersWithDefaults) {
  const auto shape = [](std::string_view text) {
    return parse_shape(text, kVector, false, {{"eps", 1e-5}, {"scale", 2}});
  };
  EXPECT_EQ(shape("8").text(), "n:8/eps:1e-05/scale:2");
  EXPECT_EQ(shape("scale:-0.5/n:8").text(), "n:8/eps:1e-05/scale:-0.5");
  EXPECT_EQ(shape(shape("n:8/eps:0").text()), shape("n:8/eps:0"));
  EXPECT_NE(shape("n:8/eps:0"), shape("n:8"));
  EXPECT_EQ(shape("8").attribute("scale"), 2);
  EXPECT_THROW((void)shape("8").attribute("n"), std::out_of_range);
  for (const std::string_view text :
       {"n:8/eps:", "n:8/eps:x", "n:8/eps:nan", "eps:1", "n:8/eps:1/eps:2"}) {
    EXPECT_THROW((void)shape(text), UsageError) << text;
  }
}

TEST(Shape, RefusesWhatTheOperationDoesNotHave) {
  EXPECT_EQ(shape_refusal("q:4"), "unknown dimension 'q'; this operation has m, n, k, layout");
  EXPECT_EQ(shape_refusal("b:8/m:4/n:4/k:4"),
            "unknown dimension 'b'; this operation has m, n, k, layout; a launch is one product, "
            "without a batch");
  EXPECT_EQ(shape_refusal("m:4", kVector), "unknown dimension 'm'; this operation has n");
  EXPECT_EQ(shape_refusal("n:4/layout:nt", kVector),
            "unknown dimension 'layout'; this operation has n");
  EXPECT_EQ(shape_refusal("n:4/layout:tt"), "unknown layout 'tt'; allowed: nt, nn, tn");
  EXPECT_EQ(shape_refusal("m:4"), "shape 'm:4' lacks dimension 'n'; this operation has m, n, k");
  EXPECT_EQ(shape_refusal("m:4/n:4"),
            "shape 'm:4/n:4' lacks dimension 'k'; this operation has m, n, k");
  EXPECT_EQ(shape_refusal("layout:nt"),
            "shape 'layout:nt' lacks dimension 'm'; this operation has m, n, k");
}

TEST(Shape, OneSizeForAllIsForUpToThreeDimensions) {
  const std::vector<std::string> heads{"b", "n", "h", "d"};
  const std::string named = "b:64/n:64/h:64/d:64";
  EXPECT_EQ(shape_refusal("4096", heads),
            "one size for all needs an operation of up to 3 dimensions; allowed: " + named);
  EXPECT_EQ(shape_refusal("4096/b:2", heads), shape_refusal("4096", heads));
  EXPECT_EQ(shape_refusal("n:4096", heads),
            "shape 'n:4096' lacks dimension 'b'; this operation has b, n, h, d");
  EXPECT_EQ(shape_refusal("x", heads),
            "'x' in a shape is not of the form name:size; allowed: " + named);
  EXPECT_EQ(parse_shape(named, heads, false).text(), named);
}

TEST(Shape, RefusesWhatIsNotAShape) {
  const std::string allowed = "; allowed: 64 for every size, or m:64/n:64/k:64";
  EXPECT_EQ(shape_refusal(""), "'' in a shape is not of the form name:size" + allowed);
  EXPECT_EQ(shape_refusal("x4096"), "'x4096' in a shape is not of the form name:size" + allowed);
  EXPECT_EQ(shape_refusal("8x64x64"),
            "'8x64x64' in a shape is not of the form name:size" + allowed);
  EXPECT_EQ(shape_refusal("m:4/n:4/k:4/4"),
            "'4' in a shape is not of the form name:size" + allowed);
  EXPECT_EQ(shape_refusal("4/m:4/n:4/k:4"),
            "shape '4/m:4/n:4/k:4' has sizes beside a number that represents all of them");
  EXPECT_EQ(shape_refusal(":4096"), "':4096' in a shape is not of the form name:size" + allowed);
  EXPECT_EQ(shape_refusal("n:4/"), "'' in a shape is not of the form name:size" + allowed);
  EXPECT_EQ(shape_refusal("m:4//k:4"), "'' in a shape is not of the form name:size" + allowed);
  EXPECT_EQ(shape_refusal("n:4/n:5"), "'n' is given twice in shape 'n:4/n:5'");
  EXPECT_EQ(shape_refusal("layout:nt/n:4/layout:nn"),
            "'layout' is given twice in shape 'layout:nt/n:4/layout:nn'");
}

TEST(Shape, RefusesAbsurdSizes) {
  for (const std::string_view size : {"0", "-4", "", "x", "4.5", "1e-6", "+4", " 4", "4 ", "4m",
                                      "1099511627777", "99999999999999999999"}) {
    EXPECT_EQ(
        shape_refusal(std::string("n:").append(size)),
        "dimension n:" + std::string(size) + " is not a whole number between 1 and 1099511627776");
  }
  EXPECT_EQ(parse_shape("n:1099511627776", kVector, false)["n"], std::int64_t{1} << 40U);
}

TEST(Shape, RefusesAProductThatOverflows) {
  EXPECT_EQ(shape_refusal("m:1048576/n:2097152/k:2097152"),
            "shape m:1048576/n:2097152/k:2097152/layout:nt is too large: the product of its sizes "
            "exceeds 2^62");
  EXPECT_EQ(shape_refusal("m:1048576/n:2097152/k:2097151"), "accepted");
}

}  // namespace
}  // namespace ridgebench
