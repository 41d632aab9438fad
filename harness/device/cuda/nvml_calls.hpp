// How the functions of NVML are called; for the files that implement Nvml.
#pragma once

#include <array>

#include "harness/device/cuda/nvml.hpp"

namespace ridgebench {

namespace nvml_detail {

inline constexpr unsigned kTextBytes = 96;
using Text = std::array<char, kTextBytes>;

// nvmlReturn_t
inline constexpr int kSuccess = 0;
inline constexpr int kInsufficientSize = 7;
inline constexpr int kFunctionNotFound = 13;

inline constexpr unsigned kMostNvlinks = 18;  // NVML_NVLINK_MAX_LINKS

template <class Value>
void add(nlohmann::ordered_json& to, const char* key, const std::optional<Value>& value) {
  if (value) to[key] = *value;
}

}  // namespace nvml_detail

template <class... Arguments>
int Nvml::call(const char* function, Arguments... arguments) const {
  void* const address = library_.find(function);
  if (address == nullptr) return nvml_detail::kFunctionNotFound;
  return reinterpret_cast<int (*)(Arguments...)>(address)(arguments...);
}

template <class Number, class... What>
std::optional<Number> Nvml::read(const char* function, What... what) const {
  Number value{};
  if (call(function, device_, what..., &value) != nvml_detail::kSuccess) return std::nullopt;
  return value;
}

template <class Number, class... What>
std::optional<double> Nvml::scaled(double unit, const char* function, What... what) const {
  const auto value = read<Number>(function, what...);
  if (!value) return std::nullopt;
  return static_cast<double>(*value) * unit;
}

inline std::optional<Nvml::Pair> Nvml::pair(const char* function) const {
  Pair pair;
  if (call(function, device_, &pair.first, &pair.second) != nvml_detail::kSuccess)
    return std::nullopt;
  return pair;
}

inline std::optional<std::string> Nvml::text(const char* function) const {
  nvml_detail::Text buffer{};
  if (call(function, device_, buffer.data(), nvml_detail::kTextBytes) != nvml_detail::kSuccess)
    return std::nullopt;
  return buffer.data();
}

}  // namespace ridgebench
