#include "harness/measure/injected_work.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr int kLargestGroup = 1000;

// A whole number that ends where `text` does; -1 for anything else.
int whole_number(std::string_view text) {
  int value = 0;
  const char* first = text.data();
  const char* last = first + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  return error == std::errc{} && end == last ? value : -1;
}

}  // namespace

InjectedWork injected_work() {
  const char* value = std::getenv(kInjectedWorkVariable);
  if (value == nullptr) return {};
  const std::string_view text = value;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const InjectedWork work{.extra = whole_number(text.substr(0, slash)),
                            .counted = whole_number(text.substr(slash + 1))};
    const bool group = work.counted >= 1 && work.counted <= kLargestGroup;
    if (group && work.extra >= 0 && work.extra <= work.counted) return work;
  }
  throw UsageError(fmt::format("{}='{}' is not K/N with 0 <= K <= N <= {} and N >= 1",
                               kInjectedWorkVariable, text, kLargestGroup));
}

std::vector<Launch> inject(const std::vector<Launch>& rotation, const InjectedWork& work) {
  const std::size_t sets = rotation.size();
  const auto group = static_cast<std::size_t>(work.counted);
  std::vector<Launch> result;
  result.reserve((sets + group - 1) / group * group);
  while (result.size() < sets || result.size() % group != 0) {
    const std::size_t i = result.size();
    const Launch& launch = rotation[i % sets];
    if (i % group >= static_cast<std::size_t>(work.extra)) {
      result.push_back(launch);
      continue;
    }
    result.emplace_back([launch, other = rotation[(i + sets / 2) % sets]] {
      launch();
      other();
    });
  }
  return result;
}

}  // namespace ridgebench
