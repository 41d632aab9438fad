// Says why the counts of a model may be wrong, in commands whose output has no place for it.
#pragma once

#include "roofline/transformer/transformer.hpp"

namespace ridgebench {

// Prints "warning: ..." for each warning of the model on stderr.
void print_model_warnings(const Transformer& model);

}  // namespace ridgebench
