// A batch and leading dimensions: what the operation derives from them, which shapes it refuses,
// and which techniques say that they do not serve them.
#include <gmock/gmock.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "kernels/common/error.hpp"
#include "kernels/common/product_strides.hpp"
#include "kernels/common/reference/rows.hpp"
#include "kernels/matmul/matmul.hpp"
#include "tests/support/awkward_shapes.hpp"
#include "tests/support/host_run.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;

Shape batch_shape(const std::string& text) { return parse_shape(text, matmul_operation()); }

std::string batch_refusal(const std::string& text) {
  try {
    return "allowed: " + batch_shape(text).text();
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(MatmulBatch, TheUsualSizesAreLeftOutOfTheShape) {
  EXPECT_EQ(batch_shape("64/b:1").text(), "m:64/n:64/k:64/layout:nt");
  EXPECT_EQ(batch_shape("b:8/k:3/n:2/m:1").text(), "m:1/n:2/k:3/b:8/layout:nt");
  EXPECT_EQ(batch_shape("ldc:9/n:8/lda:8/b:2").text(), "m:8/n:8/k:8/b:2/ldc:9/layout:nt");
  // The line of a stored matrix: of A m in layout tn, else k; of B k in layout nt, else n.
  const std::string sizes = "m:4/n:6/k:5/";
  EXPECT_EQ(batch_shape(sizes + "lda:5/ldb:5/ldc:6").text(), "m:4/n:6/k:5/layout:nt");
  EXPECT_EQ(batch_shape(sizes + "lda:5/ldb:6/ldc:6/layout:nn").text(), "m:4/n:6/k:5/layout:nn");
  EXPECT_EQ(batch_shape(sizes + "lda:4/ldb:6/ldc:6/layout:tn").text(), "m:4/n:6/k:5/layout:tn");
  const Shape stated = batch_shape(sizes + "b:2/lda:7/ldb:8/ldc:9");
  EXPECT_EQ(batch_shape(stated.text()), stated);
}

TEST(MatmulBatch, LinesThatOverlapAreRefusedWithTheirLength) {
  EXPECT_THAT(batch_refusal("m:4/n:6/k:5/lda:4"),
              HasSubstr("lda:4 is less than a line of 5 elements; allowed: 5 or more"));
  EXPECT_THAT(batch_refusal("m:4/n:6/k:5/ldb:5/layout:nn"),
              HasSubstr("ldb:5 is less than a line of 6 elements"));
  EXPECT_THAT(batch_refusal("m:4/n:6/k:5/ldc:5"), HasSubstr("ldc:5 is less than a line of 6"));
  EXPECT_THAT(batch_refusal("m:4/n:6/k:5/lda:0"), HasSubstr("dimension lda:0"));
  EXPECT_THAT(batch_refusal("m:1M/n:1/k:1/lda:1e12"), HasSubstr("lda makes an operand of 1e+18"));
  EXPECT_THAT(batch_refusal("m:1M/n:1/k:1/b:1e12"), HasSubstr("b makes an operand of 1e+18"));
  // parse_shape() bounds the sizes of a plain product.
  EXPECT_EQ(batch_refusal("m:1e12/n:1/k:1M"), "allowed: m:1000000000000/n:1/k:1000000/layout:nt");
  EXPECT_THAT(batch_refusal("8/batch:2"),
              HasSubstr("unknown dimension 'batch'; this operation has m, n, k, b, lda, ldb, ldc, "
                        "layout; a batch of 8 is b:8"));
}

TEST(MatmulBatch, FlopsAndBytesCountEveryProductAndNoGap) {
  const Operation matmul = matmul_operation();
  const Shape plain = batch_shape("m:4/n:6/k:5");
  const Shape batch = batch_shape("m:4/n:6/k:5/b:3");
  const Shape gaps = batch_shape("m:4/n:6/k:5/b:3/lda:11/ldb:13/ldc:17");
  EXPECT_EQ(matmul.flops(batch), 3 * matmul.flops(plain));
  EXPECT_EQ(matmul.flops(gaps), matmul.flops(batch));
  for (const FormatPair format : matmul.formats) {
    const double once = bytes(matmul, plain, format);
    EXPECT_EQ(bytes(matmul, batch, format), 3 * once);
    EXPECT_EQ(bytes(matmul, gaps, format), 3 * once);
    EXPECT_EQ(written_fraction(matmul, gaps, format), written_fraction(matmul, plain, format));
  }
  // Memory holds the gaps too.
  const std::vector<Operand> operands = matmul.operands(gaps, Format::fp32);
  EXPECT_EQ(operands[0].elements, 3 * 4 * 11);
  EXPECT_EQ(operands[1].elements, 3 * 6 * 13);
  EXPECT_EQ(operands[2].elements, 3 * 4 * 17);
  EXPECT_EQ(operands[0].by_row, 11) << "what a row of C reads of A";
  const std::vector<Output> outputs = outputs_of(matmul, gaps, Format::fp32);
  EXPECT_EQ(outputs[0].row_length, 6);
  EXPECT_EQ(outputs[0].row_stride(), 17);
}

TEST(MatmulBatch, OtherProductsHaveNeither) {
  EXPECT_TRUE(matmul_gelu_operation().optional_dimensions.empty());
  EXPECT_TRUE(matmul_block_scaled_operation().optional_dimensions.empty());
  EXPECT_THROW(parse_shape("8/b:2", matmul_gelu_operation()), UsageError);
}

// Element by element, by the definition.
TEST(MatmulBatch, TheReferenceOfEveryRowIsThatOfItsProduct) {
  const Operation matmul = matmul_operation();
  const RowsReference* const rows_of = rows_reference_of(matmul);
  ASSERT_NE(rows_of, nullptr);
  for (const Shape& s : awkward_shapes(matmul)) {
    if (matmul.flops(s) > 1e6) continue;
    SCOPED_TRACE(s.text());
    std::vector<std::vector<float>> inputs;
    std::vector<View> views;
    for (const Operand& operand : matmul.operands(s, Format::fp32)) {
      if (!operand.is_input()) continue;
      std::vector<float>& x = inputs.emplace_back(static_cast<std::size_t>(operand.elements));
      fill_random(x.data(), operand.elements, Format::fp32, Fill::normal, 1,
                  static_cast<std::uint32_t>(inputs.size()), 1);
    }
    for (const std::vector<float>& x : inputs) views.push_back({x.data(), Format::fp32});
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < batch_of(s) * s["m"]; row += 2) rows.push_back(row);
    std::vector<Expected> found(rows.size() * static_cast<std::size_t>(s["n"]));
    rows_of->compute(s, rows, {}, views, found);
    const bool tn = s.layout() == Layout::tn;
    const bool nt = s.layout() == Layout::nt;
    const StoredLines of_a = lines_of_a(s);
    const StoredLines of_b = lines_of_b(s);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::int64_t row = rows[at / static_cast<std::size_t>(s["n"])];
      const auto j = static_cast<std::int64_t>(at) % s["n"];
      const std::int64_t i = row % s["m"];
      double sum = 0;
      for (std::int64_t p = 0; p < s["k"]; ++p) {
        const std::int64_t a =
            row / s["m"] * of_a.elements() + (tn ? p * of_a.stride + i : i * of_a.stride + p);
        const std::int64_t b =
            row / s["m"] * of_b.elements() + (nt ? j * of_b.stride + p : p * of_b.stride + j);
        sum += views[0][a] * views[1][b];
      }
      ASSERT_NEAR(found[at].value, sum, 1e-12 * (1 + found[at].norm)) << row << ' ' << j;
    }
  }
}

TEST(MatmulBatch, EveryHostTechniqueIsRightInEveryLayoutAndExactOnIntegers) {
  std::set<std::string> served;
  for_each_host_technique("matmul", [&](const Implementation& implementation) {
    if (implementation.technique.optional_dimensions) served.insert(implementation.technique.name);
    for (const Shape& shape : awkward_shapes(*implementation.operation)) {
      const bool plain = shape.dimensions().size() == 3;
      if (!plain) expect_right(implementation, shape, 1, true);
    }
  });
  EXPECT_TRUE(served.contains("naive"));
  EXPECT_TRUE(served.contains("packed"));
  EXPECT_TRUE(served.contains("openblas"));
}

// More than a block of C, a band and a step of k, so that bands and prefetches cross lines.
TEST(MatmulBatch, PackedIsRightInBlocksAndBands) {
  for_each_host_technique("matmul", [&](const Implementation& implementation) {
    if (implementation.technique.pace == Pace::naive) return;
    for (const char* const text : {"m:193/n:521/k:600/b:2/lda:603/ldb:609/ldc:523",
                                   "m:200/n:256/k:512/b:2/lda:528/ldb:272/ldc:272/layout:nn",
                                   "m:193/n:300/k:133/b:3/lda:200/ldb:304/ldc:320/layout:tn"}) {
      expect_right(implementation, batch_shape(text), 0, true);
    }
  });
}

class MatmulBatchRegistry : public RegistryTest {};

TEST_F(MatmulBatchRegistry, ATechniqueThatDoesNotServeThemSaysSo) {
  const Operation& matmul = Registry::instance().operation("matmul");
  Implementation implementation{};
  implementation.technique = {.operation = "matmul", .name = "mine", .engine = Engine::fma};
  implementation.operation = &matmul;
  const auto reason = [&](const char* text) {
    return implementation.unsupported(Machine{}, parse_shape(text, matmul)).value_or("serves it");
  };
  EXPECT_EQ(reason("8"), "serves it");
  EXPECT_EQ(reason("8/b:1/lda:8"), "serves it");
  EXPECT_EQ(reason("8/b:2"), "mine does not serve dimension b");
  EXPECT_EQ(reason("8/ldc:9"), "mine does not serve dimension ldc");
  implementation.technique.optional_dimensions = true;
  EXPECT_EQ(reason("8/b:2/ldc:9"), "serves it");
  implementation.technique.supports = [](const Machine&, const Shape& s, FormatPair) {
    return batch_of(s) > 65535 ? std::optional<std::string>("too many") : std::nullopt;
  };
  EXPECT_EQ(reason("1/b:70000"), "too many");
}

}  // namespace
}  // namespace ridgebench
