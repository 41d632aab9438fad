#include "harness/device/isolated/remote_reference.hpp"

#include <omp.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/device/isolated/wire.hpp"

namespace ridgebench {

RemoteReference::RemoteReference(std::shared_ptr<KernelsFile> file, std::size_t operation)
    : file_(std::move(file)), operation_(operation) {}

void RemoteReference::operator()(const Shape& shape, std::span<const RowsOfSet> sets) const {
  // Numbers of elements do not depend on the format, and the views have the formats.
  const nlohmann::json& formats =
      file_->description().at("operations").at(operation_).at("formats");
  const auto operands = wire::operands(file_->value_of({{"do", "operands"},
                                                        {"operation", operation_},
                                                        {"shape", wire::of(shape)},
                                                        {"format", formats.at(0)}}));
  std::vector<std::size_t> elements;
  for (const Operand& operand : operands) {
    if (operand.is_input()) elements.push_back(static_cast<std::size_t>(operand.elements));
  }
  for (const RowsOfSet& set : sets) {
    if (set.in.size() != elements.size()) throw std::logic_error("a reference lacks an input");
  }
  file_->reference({{"do", "reference"},
                    {"operation", operation_},
                    {"shape", wire::of(shape)},
                    {"threads", omp_get_max_threads()}},
                   sets, elements);
}

}  // namespace ridgebench
