#include "harness/step/step_program.hpp"

#include <algorithm>

namespace ridgebench {

TensorId StepProgram::allocate(StepTensor tensor) {
  tensors_.push_back(std::move(tensor));
  events_.emplace_back(Allocate{tensors_.size() - 1});
  return tensors_.size() - 1;
}

TensorId StepProgram::part_of(TensorId whole, std::string name, std::int64_t first,
                              std::int64_t elements) {
  const StepTensor& of = tensors_.at(whole);
  tensors_.push_back({.name = std::move(name),
                      .kind = of.kind,
                      .elements = elements,
                      .format = of.format,
                      .part = StepTensor::Part{whole, first}});
  return tensors_.size() - 1;
}

void StepProgram::free(TensorId tensor) {
  if (!tensors_.at(tensor).part) events_.emplace_back(Free{tensor});
}

void StepProgram::launch(StepLaunch launch) {
  launches_.push_back(std::move(launch));
  events_.emplace_back(RunLaunch{launches_.size() - 1});
}

std::int64_t StepProgram::count(std::string_view operation) const {
  return std::ranges::count(launches_, operation, &StepLaunch::operation);
}

}  // namespace ridgebench
