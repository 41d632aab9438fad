// How shapes, machines, operations and techniques pass between this process and one that has loaded
// a file. The readers check all that they read, because the file's code may have written it. They
// throw std::runtime_error, or UsageError for an unknown name.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "kernels/common/registry.hpp"

namespace ridgebench::wire {

using Json = nlohmann::json;

Json of(FormatPair format);
FormatPair format_pair(const Json& json);

Json of(const Shape& shape);
Shape shape(const Json& json);

Json of(const Machine& machine);
Machine machine(const Json& json);

Json of(const std::vector<Operand>& operands);
std::vector<Operand> operands(const Json& json);

// Data of an operation besides its functions, and which functions it has.
Json of(const Operation& operation);
// The same without functions. `has` says which functions the file's operation has.
Operation operation(const Json& json);
bool has(const Json& described, const char* function);

// The same of a technique in one format.
Json of(const Implementation& implementation);
Implementation implementation(const Json& json);

}  // namespace ridgebench::wire
