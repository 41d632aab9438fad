// Writes a struct that has a list of keys as a JSON object. What is unknown or infinite is null.
#pragma once

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "harness/results/key.hpp"
#include "kernels/common/format.hpp"
#include "kernels/common/shape.hpp"
#include "roofline/prediction.hpp"

namespace ridgebench {

template <Keyed T>
nlohmann::ordered_json object_json(const T& object);

template <class T>
nlohmann::ordered_json json_of(const T& value) {
  if constexpr (kIsListOfKeyed<T>) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& one : value) list.push_back(json_of(one));
    return list;
  } else if constexpr (kIsOptional<T>) {
    return value ? json_of(*value) : nlohmann::ordered_json(nullptr);
  } else if constexpr (NamedEnum<T>) {
    return name(value);
  } else if constexpr (Keyed<T>) {
    return object_json(value);
  } else if constexpr (std::is_same_v<T, Format>) {
    return info(value).name;
  } else if constexpr (std::is_same_v<T, FormatPair>) {
    return value.name();
  } else if constexpr (std::is_same_v<T, Shape>) {
    return sizes_of(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  } else {
    return value;
  }
}

template <class Owner, class Member>
nlohmann::ordered_json json_of(const Owner& object, const Key<Owner, Member>& key) {
  return json_of(std::invoke(key.member, object));
}

// One of the times of a record, which only a row with a time has.
template <class Owner>
nlohmann::ordered_json json_of(const Owner& object, const TimeKey& key) {
  return object.time ? json_of((*object.time).*key.member) : nlohmann::ordered_json(nullptr);
}

template <Keyed T>
nlohmann::ordered_json object_json(const T& object) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for_each_key<T>([&](const auto& key) { json[key.name] = json_of(object, key); });
  return json;
}

}  // namespace ridgebench
