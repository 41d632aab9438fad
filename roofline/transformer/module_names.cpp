#include "roofline/transformer/module_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "roofline/transformer/families.hpp"

namespace ridgebench {
namespace {

struct Module {
  std::string_view name;
  ModulePart part;
};
constexpr std::array kModules{Module{"self_attn", ModulePart::attention},
                              Module{"self_attention", ModulePart::attention},
                              Module{"attention", ModulePart::attention},
                              Module{"attn", ModulePart::attention},
                              Module{"linear_attn", ModulePart::recurrence},
                              Module{"mamba", ModulePart::recurrence},
                              Module{"shared_expert", ModulePart::shared},
                              Module{"shared_experts", ModulePart::shared},
                              Module{"experts", ModulePart::expert},
                              Module{"mlp", ModulePart::network},
                              Module{"ffn", ModulePart::network},
                              Module{"feed_forward", ModulePart::network},
                              Module{"block_sparse_moe", ModulePart::network},
                              Module{"mixer", ModulePart::all},
                              Module{"lm_head", ModulePart::head},
                              Module{"head", ModulePart::head},
                              Module{"embed_out", ModulePart::head}};
// Granite has this module beside "block_sparse_moe". In other families a pattern such as "*mlp"
// names the network.
constexpr Module kSharedByName{"shared_mlp", ModulePart::shared};

// A piece of a regular expression, and the piece of a shell pattern that means the same.
struct Rewriting {
  std::string_view expression;
  std::string_view shell;
};
constexpr std::array kRewritings{Rewriting{"\\.", "."},   Rewriting{".*", "*"},
                                 Rewriting{".+", "*"},    Rewriting{"\\d+", "*"},
                                 Rewriting{"\\d*", "*"},  Rewriting{"[0-9]+", "*"},
                                 Rewriting{"[^.]+", "*"}, Rewriting{"[^.]*", "*"},
                                 Rewriting{"(?:", "("},   Rewriting{"[^\\.]+", "*"}};
// Longer names, and patterns with more stars or alternatives, would take long to compare.
constexpr std::size_t kLongestName = 1000;
constexpr std::ptrdiff_t kMostStars = 4;
constexpr std::size_t kMostAlternatives = 1000;

std::string as_shell(std::string_view expression) {
  if (expression.starts_with('^')) expression.remove_prefix(1);
  const bool ends = expression.ends_with('$');
  if (ends) expression.remove_suffix(1);
  std::string text;
  while (!expression.empty()) {
    const auto found = std::ranges::find_if(
        kRewritings, [&](const Rewriting& r) { return expression.starts_with(r.expression); });
    const bool rewritten = found != kRewritings.end();
    text += rewritten ? found->shell : expression.substr(0, 1);
    expression.remove_prefix(rewritten ? found->expression.size() : 1);
  }
  return ends ? text : text + "*";
}

// "(a|b)c" gives ac and bc. Empty for too many of them.
std::vector<std::string> alternatives(const std::string& text) {
  std::vector<std::string> open{text};
  std::vector<std::string> whole;
  while (!open.empty()) {
    if (open.size() + whole.size() > kMostAlternatives) return {};
    const std::string one = std::move(open.back());
    open.pop_back();
    const std::size_t end = one.find(')');
    const std::size_t begin = end == std::string::npos ? end : one.rfind('(', end);
    if (begin == std::string::npos) {
      whole.push_back(one);
      continue;
    }
    const std::string inner = one.substr(begin + 1, end - begin - 1);
    for (std::size_t at = 0; at <= inner.size();) {
      const std::size_t bar = std::min(inner.find('|', at), inner.size());
      open.push_back(fmt::format("{}{}{}", one.substr(0, begin), inner.substr(at, bar - at),
                                 one.substr(end + 1)));
      at = bar + 1;
    }
  }
  return whole;
}

bool is_shell_pattern(std::string_view text) {
  return text.find_first_of("()[]{}|\\^$+?") == std::string_view::npos &&
         std::ranges::count(text, '*') <= kMostStars;
}

std::vector<std::string> dotted_parts(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t dot = std::min(text.find('.', at), text.size());
    parts.emplace_back(text.substr(at, dot - at));
    at = dot + 1;
  }
  return parts;
}

// True for the number in a list of modules, and for a pattern in its place.
bool is_number_in(std::string_view part, std::string_view list, std::string_view name) {
  const bool number = !part.empty() && part.find_first_not_of("0123456789*") == std::string::npos;
  return number && fits_pattern(name, list);
}

bool is_layer(std::string_view part, std::string_view list) {
  constexpr std::array<std::string_view, 3> kLists{"layers", "h", "blocks"};
  return std::ranges::any_of(kLists, [&](auto name) { return is_number_in(part, list, name); });
}

std::set<ModulePart> parts_named(std::string_view pattern) {
  std::set<ModulePart> parts;
  for (const Module& module : kModules) {
    if (fits_pattern(module.name, pattern)) parts.insert(module.part);
  }
  if (pattern.find("shared") != std::string_view::npos && fits_pattern(kSharedByName.name, pattern))
    parts.insert(kSharedByName.part);
  return parts;
}

// Takes the last part of a name if it is the number of an expert.
void take_expert(std::vector<std::string>& parts, ModuleName& name) {
  if (parts.size() < 2 || !is_number_in(parts.back(), parts[parts.size() - 2], "experts")) return;
  name.expert = parts.back();
  parts.pop_back();
}

ModuleName split_name(std::string_view text) {
  std::vector<std::string> parts = dotted_parts(text);
  ModuleName name;
  std::size_t first = 0;
  for (std::size_t i = 1; i < parts.size() && first == 0; ++i) {
    if (is_layer(parts[i], parts[i - 1])) first = i + 1;
  }
  if (first > 0) name.layer = parts[first - 1];
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first));
  while (!parts.empty() && (parts.back() == "*" || parts.back().empty())) parts.pop_back();
  if (parts.empty()) {
    if (first > 0) name.parts = {ModulePart::all};
    return name;
  }
  take_expert(parts, name);
  if (name.expert.empty() && parts_named(parts.back()).empty()) {
    name.projection = parts.back();
    parts.pop_back();
    take_expert(parts, name);
  }
  name.parts = parts.empty() ? std::set{ModulePart::all} : parts_named(parts.back());
  return name;
}

std::string with_single_stars(std::string text) {
  const auto both = [](char a, char b) { return a == '*' && b == '*'; };
  text.erase(std::ranges::unique(text, both).begin(), text.end());
  return text;
}

}  // namespace

std::vector<ModuleName> parse_module_names(std::string_view text) {
  constexpr std::string_view kExpression = "re:";
  if (text.size() > kLongestName) return {};
  std::vector<std::string> patterns{std::string(text)};
  if (text.starts_with(kExpression))
    patterns = alternatives(as_shell(text.substr(kExpression.size())));
  std::vector<ModuleName> names;
  for (const std::string& pattern : patterns) {
    const std::string one = with_single_stars(pattern);
    if (!is_shell_pattern(one)) return {};
    names.push_back(split_name(one));
  }
  return names;
}

std::string last_part(std::string_view text) {
  std::string last;
  for (std::string& part : dotted_parts(text)) {
    std::erase(part, '*');
    if (!part.empty()) last = std::move(part);
  }
  return last;
}

}  // namespace ridgebench
