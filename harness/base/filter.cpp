#include "harness/base/filter.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Returns at most a hundred bytes, for a message.
std::string beginning(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  return std::string(text.substr(0, kLongest)) + (text.size() > kLongest ? "..." : "");
}

}  // namespace

Filter::Filter(std::string_view text) : shown_(beginning(text)), inverted_(text.starts_with('-')) {
  const std::string_view expression = text.substr(inverted_ ? 1 : 0);
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  expression_ = std::make_shared<const re2::RE2>(
      re2::StringPiece(expression.data(), expression.size()), options);
  if (!expression_->ok()) {
    throw UsageError(fmt::format("filter '{}' is not a regular expression: {}", shown_,
                                 beginning(expression_->error())));
  }
}

bool Filter::matches(std::string_view id) const {
  const re2::StringPiece searched(id.data(), id.size());
  return re2::RE2::PartialMatch(searched, *expression_) != inverted_;
}

bool Filter::names_operation_of(std::string_view id) const {
  const std::string_view rest = id.substr(std::min(id.find('/'), id.size()));
  const std::string other = fmt::format("another_operation{}", rest);
  return matches(id) && !matches(other);
}

}  // namespace ridgebench
