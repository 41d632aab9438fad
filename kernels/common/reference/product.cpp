#include "kernels/common/reference/product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/cpu/clones.hpp"
#include "kernels/common/product_strides.hpp"
#include "kernels/common/sum_of_terms.hpp"

namespace ridgebench {
namespace {

using Vector = double __attribute__((vector_size(32)));
constexpr std::int64_t kLanes = 4;

// A register tile: 8 accumulators hide the latency of the additions.
constexpr std::int64_t kRows = 4;
constexpr std::int64_t kColumns = 2 * kLanes;
// Rows that a thread multiplies by a panel of B while the panel is in the first caches.
constexpr std::int64_t kBlockRows = 4 * kRows;
// Terms of a sum that are packed and added at once: more where the panels are few, because threads
// wait for each other after each part. They bound the memory of a product of any size.
constexpr std::int64_t kDepth = 4096;
constexpr std::int64_t kMostDepth = 8 * kDepth;
// Numbers of B that are packed at once. They stay in the last-level cache.
constexpr std::int64_t kPackedNumbers = std::int64_t{1} << 19U;

using Tile = std::array<double, kRows * kColumns>;

// Numbers and their squares, each in the order in which multiply_tile reads them.
struct Packed {
  explicit Packed(std::int64_t size)
      : values(static_cast<std::size_t>(size)), squares(static_cast<std::size_t>(size)) {}
  std::vector<double> values;
  std::vector<double> squares;
};

// tile[i][j] = sum over p of a[p][i] b[p][j].
RIDGEBENCH_CLONES
void multiply_tile(const double* a, const double* b, std::int64_t k, Tile& tile) {
  Vector sum[kRows][2] = {};  // NOLINT(modernize-avoid-c-arrays): registers
  for (std::int64_t p = 0; p < k; ++p) {
    Vector left;
    Vector right;
    std::memcpy(&left, b + p * kColumns, sizeof left);
    std::memcpy(&right, b + p * kColumns + kLanes, sizeof right);
    for (std::int64_t i = 0; i < kRows; ++i) {
      sum[i][0] += a[p * kRows + i] * left;
      sum[i][1] += a[p * kRows + i] * right;
    }
  }
  std::memcpy(tile.data(), sum, sizeof sum);
}

// Terms first .. first + count - 1 of every sum.
struct Terms {
  std::int64_t first;
  std::int64_t count;
};

class Product {
 public:
  Product(const Shape& shape, const Groups& groups, View a, View b, const ProductScales& scales)
      : n_(shape["n"]),
        k_(shape["k"]),
        lda_(lines_of_a(shape).stride),
        ldb_(lines_of_b(shape).stride),
        a_by_columns_(shape.layout() == Layout::tn),
        b_by_rows_(shape.layout() != Layout::nt),
        groups_(groups),
        width_(groups.width(n_)),
        a_(a),
        b_(b),
        scales_(scales) {}

  void run(std::span<const std::int64_t> rows, std::span<Expected> out) const {
    if (groups_.length == 1 && std::ssize(out) <= kColumns) return sum_each(rows, out);
    const std::int64_t panels = ceil_div(group_count(), kColumns);
    const std::int64_t most = std::clamp(kPackedNumbers / (panels * kColumns), kDepth, kMostDepth);
    const std::int64_t depth = std::min(k_, most);
    const std::int64_t at_once =
        std::clamp<std::int64_t>(kPackedNumbers / (depth * kColumns), 1, panels);
    Packed b(at_once * depth * kColumns);
    std::ranges::fill(out, Expected{0, 0});
    for (std::int64_t p = 0; p < k_; p += depth) {
      const Terms terms{p, std::min(depth, k_ - p)};
      for (std::int64_t first = 0; first < panels; first += at_once) {
        add_panels(rows, terms, first, std::min(at_once, panels - first), b, out);
      }
    }
    for (Expected& e : out) e.norm = std::sqrt(e.norm);
  }

 private:
  [[nodiscard]] std::int64_t group_count() const { return ceil_div(width_, groups_.length); }

  [[nodiscard]] double sign(std::int64_t column) const {
    return groups_.signs.empty() ? 1 : groups_.signs[static_cast<std::size_t>(column)];
  }

  // Numbers from k = `first` on of a row of A, or of a column of B, that is stored along k.
  void read_a(std::int64_t row, std::int64_t first, std::span<double> numbers) const {
    a_.read(row * lda_ + first, numbers);
    if (scales_.a) scales_.a(row, first, numbers);
  }
  void read_b(std::int64_t column, std::int64_t first, std::span<double> numbers) const {
    b_.read(column * ldb_ + first, numbers);
    if (scales_.b) scales_.b(column, first, numbers);
  }

  // Few outputs: panels of eight columns would hold zeros.
  void sum_each(std::span<const std::int64_t> rows, std::span<Expected> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto width = static_cast<std::size_t>(width_);
      const std::int64_t row = rows[i / width];
      const std::int64_t column = groups_.first + static_cast<std::int64_t>(i % width);
      out[i] = sum_of_terms(k_, [&](std::int64_t first, std::span<double> terms) {
        std::array<double, kTermsAtOnce> right;
        const auto count = static_cast<std::int64_t>(terms.size());
        if (!a_by_columns_) read_a(row, first, terms);
        if (!b_by_rows_) read_b(column, first, std::span(right).first(terms.size()));
        for (std::int64_t p = 0; p < count; ++p) {
          const auto at = static_cast<std::size_t>(p);
          if (a_by_columns_) terms[at] = a_[(first + p) * lda_ + row];
          terms[at] *= b_by_rows_ ? b_[(first + p) * ldb_ + column] : right[at];
        }
      });
      out[i].value *= sign(column);
    }
  }

  // Adds the terms of `count` panels from `first` on, on all threads.
  void add_panels(std::span<const std::int64_t> rows, Terms terms, std::int64_t first,
                  std::int64_t count, Packed& b, std::span<Expected> out) const {
    const std::int64_t blocks = ceil_div(std::ssize(rows), kBlockRows);
    const std::int64_t size = terms.count * kColumns;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
      for (std::int64_t q = 0; q < count; ++q) pack_b(first + q, terms, b, q * size);
      Packed a(std::min(kBlockRows, ceil_div(std::ssize(rows), kRows) * kRows) * terms.count);
#pragma omp for schedule(dynamic)
      for (std::int64_t block = 0; block < blocks; ++block) {
        const std::int64_t first_row = block * kBlockRows;
        const auto some = rows.subspan(
            static_cast<std::size_t>(first_row),
            static_cast<std::size_t>(std::min(kBlockRows, std::ssize(rows) - first_row)));
        pack_a(some, terms, a);
        for (std::int64_t q = 0; q < count; ++q) {
          multiply(a, b, terms.count, q * size, std::ssize(some), (first + q) * kColumns,
                   out.subspan(static_cast<std::size_t>(first_row * group_count())));
        }
      }
    }
  }

  void pack_a(std::span<const std::int64_t> rows, Terms terms, Packed& packed) const {
    std::vector<double> row(static_cast<std::size_t>(terms.count));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (!a_by_columns_) read_a(rows[r], terms.first, row);
      const auto tile = static_cast<std::int64_t>(r) / kRows;
      const auto in_tile = static_cast<std::int64_t>(r) % kRows;
      for (std::int64_t p = 0; p < terms.count; ++p) {
        const double x = a_by_columns_ ? a_[(terms.first + p) * lda_ + rows[r]]
                                       : row[static_cast<std::size_t>(p)];
        const auto at = static_cast<std::size_t>((tile * terms.count + p) * kRows + in_tile);
        packed.values[at] = x;
        packed.squares[at] = x * x;
      }
    }
  }

  // Packs panel `panel` of the groups of B's columns. Columns beyond the last are zero.
  void pack_b(std::int64_t panel, Terms terms, Packed& packed, std::int64_t offset) const {
    const auto begin = static_cast<std::ptrdiff_t>(offset);
    const auto size = static_cast<std::ptrdiff_t>(terms.count * kColumns);
    std::fill_n(packed.values.begin() + begin, size, 0.0);
    std::fill_n(packed.squares.begin() + begin, size, 0.0);
    const std::int64_t first = groups_.first + panel * kColumns * groups_.length;
    const std::int64_t end = std::min(groups_.first + width_, first + kColumns * groups_.length);
    const auto add = [&](std::int64_t p, std::int64_t column, double x) {
      const std::int64_t group = (column - first) / groups_.length;
      const auto at = static_cast<std::size_t>(offset + p * kColumns + group);
      packed.values[at] += sign(column) * x;
      packed.squares[at] += x * x;
    };
    std::vector<double> line(static_cast<std::size_t>(b_by_rows_ ? kDepth : terms.count));
    if (!b_by_rows_) {
      for (std::int64_t j = first; j < end; ++j) {
        read_b(j, terms.first, std::span(line).first(static_cast<std::size_t>(terms.count)));
        for (std::int64_t p = 0; p < terms.count; ++p) {
          add(p, j, line[static_cast<std::size_t>(p)]);
        }
      }
      return;
    }
    for (std::int64_t p = 0; p < terms.count; ++p) {
      for (std::int64_t j = first; j < end; j += kDepth) {
        const auto some = static_cast<std::size_t>(std::min(kDepth, end - j));
        b_.read((terms.first + p) * ldb_ + j, std::span(line).first(some));
        for (std::size_t i = 0; i < some; ++i) {
          add(p, j + static_cast<std::int64_t>(i), line[i]);
        }
      }
    }
  }

  // Adds `terms` terms and their squares to `rows` rows of the groups of one panel, the first of
  // which is `group`.
  void multiply(const Packed& a, const Packed& b, std::int64_t terms, std::int64_t panel,
                std::int64_t rows, std::int64_t group, std::span<Expected> out) const {
    Tile value;
    Tile square;
    for (std::int64_t first = 0; first < rows; first += kRows) {
      multiply_tile(a.values.data() + first * terms, b.values.data() + panel, terms, value);
      multiply_tile(a.squares.data() + first * terms, b.squares.data() + panel, terms, square);
      for (std::int64_t i = first; i < std::min(rows, first + kRows); ++i) {
        for (std::int64_t j = 0; j < std::min(kColumns, group_count() - group); ++j) {
          const auto at = static_cast<std::size_t>((i - first) * kColumns + j);
          Expected& sum = out[static_cast<std::size_t>(i * group_count() + group + j)];
          sum.value += value[at];
          sum.norm += square[at];
        }
      }
    }
  }

  std::int64_t n_;
  std::int64_t k_;
  std::int64_t lda_;
  std::int64_t ldb_;
  bool a_by_columns_;
  bool b_by_rows_;
  const Groups& groups_;
  std::int64_t width_;
  View a_;
  View b_;
  const ProductScales& scales_;
};

}  // namespace

void product_reference(const Shape& shape, std::span<const std::int64_t> rows, const Groups& groups,
                       View a, View b, std::span<Expected> out, const ProductScales& scales) {
  const std::int64_t m = shape["m"];
  const std::int64_t batch_a = lines_of_a(shape).elements();
  const std::int64_t batch_b = lines_of_b(shape).elements();
  std::vector<std::int64_t> own;  // rows of a product, numbered from its first
  for (std::size_t first = 0; first < rows.size(); first += own.size()) {
    const std::int64_t product = rows[first] / m;
    own.clear();
    for (std::size_t i = first; i < rows.size() && rows[i] / m == product; ++i) {
      own.push_back(rows[i] % m);
    }
    const std::size_t of_row = out.size() / rows.size();
    Product(shape, groups, a.from(product * batch_a), b.from(product * batch_b), scales)
        .run(own, out.subspan(first * of_row, own.size() * of_row));
  }
}

}  // namespace ridgebench
