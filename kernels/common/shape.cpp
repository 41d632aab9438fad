#include "kernels/common/shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {
namespace {

std::int64_t parse_size(std::string_view dimension, std::string_view text) {
  const double size = parse_number(text).value_or(0);
  if (size != std::floor(size) || size < 1 || size > static_cast<double>(kLargestSize)) {
    throw UsageError(fmt::format("dimension {}:{} is not a whole number between 1 and {}",
                                 dimension, text, kLargestSize));
  }
  return static_cast<std::int64_t>(size);
}

// As many as a product has. Of more, some are counts, of heads or groups, that no length equals.
constexpr std::size_t kMostOfOneSize = 3;

// "64 for every size, or m:64/n:64"
std::string allowed_form(std::span<const std::string> dimensions) {
  const bool few = dimensions.size() <= kMostOfOneSize;
  return fmt::format("{}{}:64", few ? "64 for every size, or " : "", fmt::join(dimensions, ":64/"));
}

// "a:1/b:2" -> {{"a","1"},{"b","2"}}. A number without a name is the size of every dimension, so
// that it stands alone or beside a layout: "4096/layout:nn" -> {{"","4096"},{"layout","nn"}}.
std::vector<std::pair<std::string_view, std::string_view>> split(
    std::string_view text, std::span<const std::string> dimensions) {
  std::vector<std::pair<std::string_view, std::string_view>> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t colon = part.find(':');
    if (begin == 0 && colon == std::string_view::npos && parse_number(part)) {
      parts.emplace_back("", part);
      begin = end + 1;
      continue;
    }
    if (colon == std::string_view::npos || colon == 0) {
      throw UsageError(fmt::format("'{}' in a shape is not of the form name:size; allowed: {}",
                                   part, allowed_form(dimensions)));
    }
    const std::string_view label = part.substr(0, colon);
    if (std::ranges::any_of(parts, [&](const auto& other) { return other.first == label; })) {
      throw UsageError(fmt::format("'{}' is given twice in shape '{}'", label, text));
    }
    parts.emplace_back(label, part.substr(colon + 1));
    begin = end + 1;
  }
  return parts;
}

double parse_attribute(std::string_view label, std::string_view text) {
  if (const auto value = parse_number(text)) return *value;
  throw UsageError(fmt::format(
      "attribute {}:{} is not a number; allowed: 0.5, -1 or 1e-5, for instance", label, text));
}

// ", eps, scale"
std::string names_of(const std::vector<Shape::Attribute>& attributes) {
  std::string names;
  for (const auto& [label, value] : attributes) names += ", " + label;
  return names;
}

bool contains(std::span<const std::string> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Says why this operation lacks a dimension that other libraries have.
std::string_view why_not(std::string_view label, std::span<const std::string> optional) {
  const bool batch = label == "batch" || label == "b";
  if (batch && contains(optional, "b")) return "; a batch of 8 is b:8";
  if (batch) return "; a launch is one product, without a batch";
  if (label.starts_with("ld") && optional.empty()) {
    return "; rows are contiguous, so that no leading dimension exists";
  }
  return "";
}

void check_product(const Shape& shape) {
  double product = 1;
  for (const auto& [dimension, size] : shape.dimensions()) product *= static_cast<double>(size);
  if (product >= kLargestProduct) {
    throw UsageError(
        fmt::format("shape {} is too large: the product of its sizes exceeds 2^62", shape.text()));
  }
}

// ", b, lda"
std::string names_of(std::span<const std::string> optional) {
  return optional.empty() ? "" : fmt::format(", {}", fmt::join(optional, ", "));
}

using Sizes = std::vector<Shape::Dimension>;

// The required dimensions in their order, from sizes by name or from one size for all.
Sizes ordered_sizes(std::string_view text, const Sizes& sizes,
                    std::span<const std::string> dimensions) {
  const bool few = dimensions.size() <= kMostOfOneSize;
  const bool unnamed = !sizes.empty() && sizes.front().first.empty();
  if (unnamed && !few) {
    throw UsageError(
        fmt::format("one size for all needs an operation of up to {} dimensions; allowed: {}",
                    kMostOfOneSize, allowed_form(dimensions)));
  }
  const bool square = few && sizes.size() == 1 && (unnamed || sizes.front().first == "n");
  if (!square && unnamed) {
    throw UsageError(
        fmt::format("shape '{}' has sizes beside a number that represents all of them", text));
  }
  Sizes ordered;
  for (const std::string& dimension : dimensions) {
    const auto given =
        std::ranges::find_if(sizes, [&](const auto& s) { return s.first == dimension; });
    if (given == sizes.end() && !square) {
      throw UsageError(fmt::format("shape '{}' lacks dimension '{}'; this operation has {}", text,
                                   dimension, fmt::join(dimensions, ", ")));
    }
    ordered.emplace_back(dimension, square ? sizes.front().second : given->second);
  }
  return ordered;
}

}  // namespace

Shape::Shape(std::vector<Dimension> dimensions, std::optional<Layout> layout,
             std::vector<Attribute> attributes)
    : dimensions_(std::move(dimensions)), layout_(layout), attributes_(std::move(attributes)) {}

std::int64_t Shape::operator[](std::string_view dimension) const {
  for (const auto& [label, size] : dimensions_) {
    if (label == dimension) return size;
  }
  throw std::out_of_range(fmt::format("shape {} has no dimension {}", text(), dimension));
}

std::int64_t Shape::size_or(std::string_view dimension, std::int64_t otherwise) const {
  const auto found = std::ranges::find(dimensions_, dimension, &Dimension::first);
  return found == dimensions_.end() ? otherwise : found->second;
}

double Shape::attribute(std::string_view label) const {
  const auto found = std::ranges::find(attributes_, label, &Attribute::first);
  if (found != attributes_.end()) return found->second;
  throw std::out_of_range(fmt::format("shape {} has no attribute {}", text(), label));
}

Shape Shape::with(std::vector<Attribute> attributes) const {
  Shape shape = *this;
  shape.attributes_ = std::move(attributes);
  return shape;
}

Shape Shape::without(std::string_view dimension) const {
  Shape shape = *this;
  std::erase_if(shape.dimensions_, [&](const Dimension& d) { return d.first == dimension; });
  return shape;
}

std::vector<std::int64_t> Shape::sizes() const {
  std::vector<std::int64_t> sizes;
  for (const auto& [label, size] : dimensions_) sizes.push_back(size);
  return sizes;
}

std::string Shape::text() const {
  std::string text;
  for (const auto& [label, size] : dimensions_) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : "/", label, size);
  }
  if (layout_) text += fmt::format("/layout:{}", name(*layout_));
  for (const auto& [label, value] : attributes_) text += fmt::format("/{}:{}", label, value);
  return text;
}

Shape parse_shape(std::string_view text, std::span<const std::string> dimensions, bool has_layout,
                  std::vector<Shape::Attribute> attributes, std::span<const std::string> optional) {
  Sizes sizes;
  Sizes more;
  std::optional<Layout> layout;
  if (has_layout) layout = Layout::nt;
  for (const auto& [label, value] : split(text, dimensions)) {
    if (label == "layout" && has_layout) {
      layout = parse<Layout>(value);
    } else if (const auto attribute =
                   std::ranges::find(attributes, label, &Shape::Attribute::first);
               attribute != attributes.end()) {
      attribute->second = parse_attribute(label, value);
    } else if (contains(optional, label)) {
      more.emplace_back(label, parse_size(label, value));
    } else if (!label.empty() && !contains(dimensions, label)) {
      throw UsageError(fmt::format("unknown dimension '{}'; this operation has {}{}{}{}{}", label,
                                   fmt::join(dimensions, ", "), names_of(optional),
                                   has_layout ? ", layout" : "", names_of(attributes),
                                   why_not(label, optional)));
    } else {
      sizes.emplace_back(label, parse_size(label.empty() ? dimensions.front() : label, value));
    }
  }
  Sizes ordered = ordered_sizes(text, sizes, dimensions);
  check_product(Shape(ordered, layout));
  for (const std::string& dimension : optional) {
    const auto given = std::ranges::find(more, dimension, &Shape::Dimension::first);
    if (given != more.end()) ordered.push_back(*given);
  }
  return Shape(std::move(ordered), layout, std::move(attributes));
}

}  // namespace ridgebench
