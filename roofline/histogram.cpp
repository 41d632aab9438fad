#include "roofline/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"
#include "roofline/encoding.hpp"
#include "roofline/json_object.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kNormal = "normal:";
constexpr double kLeastShare = 1e-6;

// The shares of numbers that a format loses or keeps with fewer digits.
struct Lost {
  double underflow = 0;
  double subnormal = 0;
  double overflow = 0;

  [[nodiscard]] ordered_json json() const {
    return {{"underflow", underflow}, {"subnormal", subnormal}, {"overflow", overflow}};
  }
};

// Numbers of which the shares are known.
class Numbers {
 public:
  Numbers() = default;
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  virtual ~Numbers() = default;
  [[nodiscard]] virtual Lost lost(const Encoding& encoding, double scale) const = 0;
  [[nodiscard]] virtual std::map<int, double> bins() const = 0;
  [[nodiscard]] virtual std::optional<double> count() const { return std::nullopt; }
  [[nodiscard]] virtual std::optional<double> zeros() const { return std::nullopt; }
};

class NormalNumbers : public Numbers {
 public:
  explicit NormalNumbers(double sigma) : sigma_(sigma) {}

  // Half of the smallest value rounds to 0. Ties have no share.
  [[nodiscard]] Lost lost(const Encoding& encoding, double scale) const override {
    const double underflow = below(encoding.least() / 2 / scale);
    const double unit = std::sqrt(2.0) * sigma_ * scale;
    return {.underflow = underflow,
            .subnormal = below(encoding.least_normal() / scale) - underflow,
            .overflow = std::erfc(encoding.overflows_from() / unit)};
  }

  [[nodiscard]] std::map<int, double> bins() const override {
    std::map<int, double> bins;
    for (int exponent = std::ilogb(sigma_) + 3;; --exponent) {
      const double share = below(std::ldexp(1, exponent + 1)) - below(std::ldexp(1, exponent));
      if (share >= kLeastShare) {
        bins[exponent] = share;
      } else if (!bins.empty() || exponent < std::ilogb(sigma_)) {
        return bins;
      }
    }
  }

 private:
  // The share of magnitudes below a bound.
  [[nodiscard]] double below(double bound) const {
    return std::erf(bound / (std::sqrt(2.0) * sigma_));
  }

  double sigma_;
};

class ListedNumbers : public Numbers {
 public:
  explicit ListedNumbers(const std::string& path) {
    const std::string text = read_file(path);
    constexpr std::string_view kSeparators = " \t\r\n,";
    std::size_t line = 1;
    for (std::size_t at = 0; at < text.size();) {
      if (kSeparators.find(text[at]) != std::string_view::npos) {
        if (text[at++] == '\n') ++line;
        continue;
      }
      const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
      add(path, line, text.substr(at, end - at));
      at = end;
    }
    if (values_.empty()) {
      throw UsageError(
          fmt::format("{}: every number is 0; allowed: numbers with spaces, commas or "
                      "line ends between them",
                      path));
    }
  }

  [[nodiscard]] Lost lost(const Encoding& encoding, double scale) const override {
    Lost lost;
    for (const double value : values_) {
      const double scaled = value * scale;
      const std::uint32_t code = encoding.encode(scaled);
      const double decoded = encoding.decode(code);
      const std::string_view outcome = outcome_of(encoding, scaled, decoded);
      if (decoded == 0) {
        ++lost.underflow;
      } else if (outcome == "overflow" || outcome == "saturates") {
        ++lost.overflow;
      } else if (class_of(encoding, code, decoded) == "subnormal") {
        ++lost.subnormal;
      }
    }
    const auto all = static_cast<double>(values_.size());
    return {lost.underflow / all, lost.subnormal / all, lost.overflow / all};
  }

  [[nodiscard]] std::map<int, double> bins() const override {
    std::map<int, double> bins;
    for (const double value : values_) bins[std::ilogb(value)] += 1;
    for (auto& [exponent, share] : bins) share /= static_cast<double>(values_.size());
    return bins;
  }

  [[nodiscard]] std::optional<double> count() const override {
    return static_cast<double>(values_.size()) + zeros_;
  }
  [[nodiscard]] std::optional<double> zeros() const override { return zeros_; }

 private:
  void add(const std::string& path, std::size_t line, const std::string& text) {
    constexpr std::size_t kMost = 60;
    const std::optional<double> value = parse_number(text);
    if (!value) {
      std::string shown = text.substr(0, kMost);
      std::ranges::replace(shown, '\0', '?');  // a NUL would end the message
      throw UsageError(
          fmt::format("{}, line {}: '{}' is not a number; allowed: a number that a double "
                      "holds, such as 1e-8, with spaces, commas or line ends around it",
                      path, line, shown));
    }
    if (*value == 0) {
      ++zeros_;
    } else {
      values_.push_back(*value);
    }
  }

  std::vector<double> values_;
  double zeros_ = 0;
};

std::unique_ptr<Numbers> numbers_of(const std::string& source) {
  if (!source.starts_with(kNormal)) return std::make_unique<ListedNumbers>(source);
  const double sigma = parse_number(source.substr(kNormal.size())).value_or(0);
  if (sigma > 0) return std::make_unique<NormalNumbers>(sigma);
  throw UsageError(fmt::format(
      "--histogram is '{}'; allowed: normal: and a number above 0, such as normal:1e-7, or a file",
      source));
}

}  // namespace

ordered_json histogram(const std::string& source, double scale, const std::string& format) {
  const bool sensible = scale > 0 && std::isfinite(scale);
  if (!sensible) {
    throw UsageError(
        fmt::format("--scale is {:g}; allowed: a number above 0, such as 1024", scale));
  }
  const std::vector<Encoding> encodings = encodings_of(format);
  const auto numbers = numbers_of(source);
  ordered_json bins = ordered_json::array();
  for (const auto& [exponent, share] : numbers->bins()) {
    bins.push_back({{"exponent", exponent}, {"share", share}});
  }
  ordered_json formats = ordered_json::array();
  for (const Encoding& encoding : encodings) {
    formats.push_back({{"format", encoding.name},
                       {"unscaled", numbers->lost(encoding, 1).json()},
                       {"scaled", numbers->lost(encoding, scale).json()}});
  }
  return {{"source", source},
          {"scale", scale},
          {"count", nullable(numbers->count())},
          {"zeros", nullable(numbers->zeros())},
          {"bins", std::move(bins)},
          {"formats", std::move(formats)}};
}

}  // namespace ridgebench
