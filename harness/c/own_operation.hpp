// An operation that a program describes at run time, through the C interface.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/c/ridgebench.h"
#include "kernels/common/operation.hpp"

namespace ridgebench {

class OwnOperation {
 public:
  // Throws UsageError for a description that is none.
  explicit OwnOperation(const ridgebench_operation& described);
  OwnOperation(const OwnOperation&) = delete;  // operations of the registry point to it
  OwnOperation& operator=(const OwnOperation&) = delete;
  ~OwnOperation() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<FormatPair>& formats() const { return formats_; }
  // Throws UsageError for a text that is not a shape, for operands that no memory holds, for FLOPs
  // or terms that are impossible, and for a shape that comes twice.
  void add_shape(std::string_view text);
  [[nodiscard]] const std::vector<Shape::Attribute>& attributes() const { return attributes_; }
  [[nodiscard]] bool has_shapes() const { return !shapes_.empty(); }

  // The operation for the registry; valid as long as this object.
  [[nodiscard]] Operation operation() const;

 private:
  struct OwnOperand {
    std::string name;
    std::optional<Format> format;
    Access access;
  };
  struct Sized {
    Shape shape;
    double flops;
    double terms;
    double more_bytes;
  };

  void add_attribute(const ridgebench_attribute& described);
  void add_operand(const ridgebench_operand& described);
  void require_operands() const;
  // Throws UsageError where the caller cannot say how many elements there are, or says nonsense.
  [[nodiscard]] std::vector<Operand> operands(const Shape& shape, FormatPair format) const;
  [[nodiscard]] Shape read_shape(std::string_view text) const;
  // Computes the amounts of a shape that was not added. Throws UsageError.
  [[nodiscard]] Sized sized(const Shape& shape) const;
  [[nodiscard]] std::optional<std::string> refuses(const Shape& shape) const;
  [[nodiscard]] double traffic(const Shape& shape, FormatPair format) const;
  void reference(const Shape& shape, std::span<const View> in, std::span<Expected> out) const;

  std::string name_;
  std::vector<std::string> dimensions_;
  std::vector<Shape::Attribute> attributes_;
  std::vector<FormatPair> formats_;
  Engine engine_;
  std::vector<OwnOperand> operands_;
  ridgebench_extents extents_;
  ridgebench_reference reference_;
  ridgebench_amounts amounts_;
  bool reads_more_;
  void* user_;
  std::vector<Sized> shapes_;
};

}  // namespace ridgebench
