// The operations, techniques, formats and shapes that a user named, resolved against the registry.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/filter.hpp"
#include "harness/results/environment.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

class Selection {
 public:
  Selection() = default;  // all cases of a profile

  // Throws UsageError in one line that names what is unknown and what is allowed.
  Selection(const CaseNames& names, const Registry& registry);

  [[nodiscard]] bool has(const Operation& operation) const;
  // Returns true if the user named the operation, by itself or with a shape.
  [[nodiscard]] bool names(const Operation& operation) const;
  [[nodiscard]] bool has_technique(std::string_view technique) const;
  // The named shapes of an operation in a format, in the order of the user. Null: the profile's
  // sweep.
  [[nodiscard]] std::optional<std::vector<Shape>> shapes(const Operation& operation,
                                                         FormatPair format) const;
  [[nodiscard]] bool has_format(FormatPair format) const;
  // The user's words go before what a profile would choose.
  [[nodiscard]] bool names_formats() const { return !formats_.empty(); }
  [[nodiscard]] bool names_shapes() const { return !shapes_.empty(); }

 private:
  struct NamedShape {
    Shape shape;
    std::optional<FormatPair> format;
  };

  void add_shapes(const std::string& line, const Registry& registry);
  // Throws UsageError if an operation was named, and no shape of it.
  void require_shapes() const;

  std::set<std::string, std::less<>> operations_;
  std::set<std::string, std::less<>> techniques_;
  std::vector<FormatPair> formats_;
  std::map<std::string, std::vector<NamedShape>, std::less<>> shapes_;
};

// The message if neither the filter nor the names leave a case.
std::string no_case(const Filter& filter, const CaseNames& names);

}  // namespace ridgebench
