// Named dimensions of a problem and their text form: `m:4096/n:4096/k:4096/layout:nt`.
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

  Shape() = default;
  explicit Shape(std::vector<Dimension> dimensions, std::optional<Layout> layout = {});

  // Size of a named dimension; throws std::out_of_range for a name the operation does not have.
  [[nodiscard]] std::int64_t operator[](std::string_view dimension) const;
  // nt where the operation has no layouts.
  [[nodiscard]] Layout layout() const { return layout_.value_or(Layout::nt); }
  [[nodiscard]] bool has_layout() const { return layout_.has_value(); }
  [[nodiscard]] const std::vector<Dimension>& dimensions() const { return dimensions_; }
  // In the order of the dimensions.
  [[nodiscard]] std::vector<std::int64_t> sizes() const;
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<Dimension> dimensions_;
  std::optional<Layout> layout_;
};

inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 40U;

// Reads the text form for an operation with these dimensions. `4096` or `n:4096` alone stands for
// all of them (square); layout defaults to nt. number.hpp has the grammar of numbers. Each size
// must be between 1 and kLargestSize and their product below 2^62. Throws UsageError.
Shape parse_shape(std::string_view text, std::span<const std::string> dimensions, bool has_layout);

}  // namespace ridgebench
