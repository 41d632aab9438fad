#include "harness/results/files/read_once.hpp"

#include <map>
#include <optional>

namespace ridgebench {
namespace {

using KeptValues = std::map<std::string, std::any>;

std::optional<KeptValues>& kept_values() {
  static std::optional<KeptValues> values;
  return values;
}

}  // namespace

ReadOnce::ReadOnce() { kept_values().emplace(); }
ReadOnce::~ReadOnce() { kept_values().reset(); }

std::any* kept(const std::string& name) {
  std::optional<KeptValues>& values = kept_values();
  return values ? &(*values)[name] : nullptr;
}

}  // namespace ridgebench
