// Says why the counts of a model may be wrong, in commands whose output has no place for it.
#pragma once

#include <string>
#include <vector>

#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

// Prints "warning: ..." for each of them on stderr.
void print_warnings(const std::vector<std::string>& warnings);

// The same for the model's warnings without those of its stored formats, which only the bytes of
// inference have.
void print_model_warnings(const Transformer& model);

}  // namespace ridgebench
