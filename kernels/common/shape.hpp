// Named dimensions of a problem and their text form: `m:4096/n:4096/k:4096/layout:nt`. An operation
// may have attributes, too: `m:1024/n:1024/eps:1e-05`, and dimensions that a text may leave out:
// `m:512/n:512/k:64/b:96/layout:nt`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

// Storage of the two inputs of a matmul C[M,N] = A B, all row-major.
// nt: A[M,K], B[N,K] (forward of a linear layer); nn: A[M,K], B[K,N]; tn: A[K,M], B[K,N].
enum class Layout : std::uint8_t { nt, nn, tn };

constexpr auto names_of(Layout) { return enum_names("layout", "nt", "nn", "tn"); }

class Shape {
 public:
  using Dimension = std::pair<std::string, std::int64_t>;
  // A number that an operation needs besides sizes and operands, for instance an epsilon.
  using Attribute = std::pair<std::string, double>;

  Shape() = default;
  explicit Shape(std::vector<Dimension> dimensions, std::optional<Layout> layout = {},
                 std::vector<Attribute> attributes = {});

  // Size of a named dimension; throws std::out_of_range for a name the operation does not have.
  [[nodiscard]] std::int64_t operator[](std::string_view dimension) const;
  // The same; `otherwise` for a dimension that the shape does not state.
  [[nodiscard]] std::int64_t size_or(std::string_view dimension, std::int64_t otherwise) const;
  // nt where the operation has no layouts.
  [[nodiscard]] Layout layout() const { return layout_.value_or(Layout::nt); }
  [[nodiscard]] bool has_layout() const { return layout_.has_value(); }
  [[nodiscard]] const std::vector<Dimension>& dimensions() const { return dimensions_; }
  // Value of a named attribute; throws std::out_of_range for a name the operation does not have.
  [[nodiscard]] double attribute(std::string_view label) const;
  [[nodiscard]] const std::vector<Attribute>& attributes() const { return attributes_; }
  // The same sizes with these attributes.
  [[nodiscard]] Shape with(std::vector<Attribute> attributes) const;
  // The same shape without a dimension.
  [[nodiscard]] Shape without(std::string_view dimension) const;
  // In the order of the dimensions.
  [[nodiscard]] std::vector<std::int64_t> sizes() const;
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<Dimension> dimensions_;
  std::optional<Layout> layout_;
  std::vector<Attribute> attributes_;
};

inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 40U;
inline constexpr double kLargestProduct = 0x1p62;  // of all sizes

// Reads the text form for an operation with these dimensions. `4096` or `n:4096` by itself sets
// all of up to three (square), and of more each has to be named; layout defaults to nt, and an
// attribute to its value in `attributes`. The text may state `optional` dimensions too, which
// follow the others in the shape. number.hpp has the grammar of numbers. Each size must be between
// 1 and kLargestSize, and the product of those that are not optional below 2^62. Throws UsageError.
Shape parse_shape(std::string_view text, std::span<const std::string> dimensions, bool has_layout,
                  std::vector<Shape::Attribute> attributes = {},
                  std::span<const std::string> optional = {});

}  // namespace ridgebench
