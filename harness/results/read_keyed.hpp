// Reads a struct that has a list of keys from a JSON object: the counterpart of keyed_json.hpp.
#pragma once

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/results/key.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/format.hpp"
#include "kernels/common/shape.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {

inline Range range_of(const Bounds& bounds) {
  return {bounds.low, bounds.high > bounds.low ? bounds.high : std::numeric_limits<double>::max()};
}

// Sets the members of `object` from its keys. `raw` is the same JSON object with its keys in the
// order of the file. Throws UsageError that names the origin and the key.
template <Keyed T>
void read_object(const JsonObject& json, const nlohmann::ordered_json& raw, T& object);

// A size is a whole number; the number of an attribute has a point or an exponent.
inline void read_shape(const JsonObject& sizes, const nlohmann::ordered_json& raw, Shape& shape) {
  std::vector<Shape::Dimension> dimensions;
  std::optional<Layout> layout;
  std::vector<Shape::Attribute> attributes;
  for (const auto& [dimension, value] : raw.items()) {
    if (dimension == "layout") {
      layout = sizes.one_of<Layout>("layout");
    } else if (value.is_number_float()) {
      attributes.emplace_back(dimension, value.get<double>());
    } else {
      const double size = sizes.number(dimension.c_str(), {1, kLargestCount});
      dimensions.emplace_back(dimension, static_cast<std::int64_t>(size));
    }
  }
  shape = Shape(std::move(dimensions), layout, std::move(attributes));
}

template <class T>
T read_format(const JsonObject& json, const char* key, T (*parse_name)(std::string_view)) {
  const std::string text = json.text(key);
  try {
    return parse_name(text);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}: {}", json.origin(), key, error.what()));
  }
}

template <class T>
void read_value(const JsonObject& json, const nlohmann::ordered_json& raw, const char* key,
                const Bounds& bounds, T& value) {
  if constexpr (kIsListOfKeyed<T>) {
    value.clear();
    for (const JsonObject& one : json.objects(key)) {
      const std::size_t at = value.size();
      read_object(one, raw.at(key).at(at), value.emplace_back());
    }
  } else if constexpr (kIsOptional<T>) {
    value.reset();
    if (!json.is_null(key)) read_value(json, raw, key, bounds, value.emplace());
  } else if constexpr (NamedEnum<T>) {
    value = json.one_of<T>(key);
  } else if constexpr (Keyed<T>) {
    const JsonObject inner = json.object(key);  // first: it says what is missing
    read_object(inner, raw.at(key), value);
  } else if constexpr (std::is_same_v<T, Format>) {
    value = read_format(json, key, parse_sum_format);
  } else if constexpr (std::is_same_v<T, FormatPair>) {
    value = read_format(json, key, parse_measured_format);
  } else if constexpr (std::is_same_v<T, Shape>) {
    const JsonObject inner = json.object(key);  // first: it says what is missing
    read_shape(inner, raw.at(key), value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = json.text(key);
  } else if constexpr (std::is_same_v<T, bool>) {
    value = json.flag(key);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    value = json.numbers(key, range_of(bounds));
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    value = json.texts(key);
  } else if constexpr (std::is_arithmetic_v<T>) {
    value = static_cast<T>(json.number(key, range_of(bounds)));
  } else {
    static_assert(std::is_same_v<T, nlohmann::ordered_json>);
    static_cast<void>(json.object(key));
    value = raw.at(key);
  }
}

template <class Owner, class Member>
void read_value(const JsonObject& json, const nlohmann::ordered_json& raw,
                const Key<Owner, Member>& key, Owner& object) {
  if constexpr (!Key<Owner, Member>::kDerived) {
    if (key.absence == Absence::not_in_oldest && !raw.contains(key.name)) return;
    Member& value = object.*key.member;
    if constexpr (std::is_same_v<Member, double>) {
      value = std::numeric_limits<double>::infinity();
      if (key.absence == Absence::infinite && json.is_null(key.name)) return;
    }
    read_value(json, raw, key.name, key.bounds, value);
  }
}

// The median, which comes first, decides whether the row has times. Another tool may report no
// more.
template <class Owner>
void read_value(const JsonObject& json, const nlohmann::ordered_json& /*raw*/, const TimeKey& key,
                Owner& object) {
  const bool null = json.is_null(key.name);
  if (key.member == &Summary::median && !null) object.time.emplace();
  if (!object.time) return;
  const bool unknown = null && object.status == decltype(object.status)::unverified;
  (*object.time).*key.member = unknown ? std::numeric_limits<double>::quiet_NaN()
                                       : json.number(key.name, range_of(kPositive));
}

template <Keyed T>
void read_object(const JsonObject& json, const nlohmann::ordered_json& raw, T& object) {
  for_each_key<T>([&](const auto& key) { read_value(json, raw, key, object); });
}

}  // namespace ridgebench
