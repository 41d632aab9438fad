#include "kernels/common/reference/rows.hpp"

#include <map>

namespace ridgebench {
namespace {

// A function's variable exists before the first registration of any file.
std::map<std::string_view, RowsReference>& references() {
  static std::map<std::string_view, RowsReference> all;
  return all;
}

}  // namespace

RegisterRowsReference::RegisterRowsReference(std::string_view operation,
                                             const RowsReference& reference) {
  references().emplace(operation, reference);
}

const RowsReference* rows_reference_of(const Operation& operation) {
  const auto found = references().find(operation.name);
  return found == references().end() ? nullptr : &found->second;
}

}  // namespace ridgebench
