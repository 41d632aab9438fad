// A config.json: it is refused with a UsageError, or the model has work and a cache.
#include <cstdlib>
#include <string_view>

#include "kernels/common/error.hpp"
#include "roofline/transformer/transformer.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const ridgebench::Transformer model = ridgebench::parse_transformer(text, "fuzz");
    const double kept = ridgebench::cached_elements(model) + ridgebench::state_elements(model);
    bool sound = ridgebench::active_parameters(model) > 0 && kept >= 0;
    sound = sound && ridgebench::active_parameters(model) <= ridgebench::parameters(model);
    for (const ridgebench::Linear& linear : ridgebench::linear_layers(model)) {
      sound = sound && linear.outputs > 0 && linear.inputs > 0 && linear.active <= linear.experts;
    }
    if (!sound) std::abort();
    ++g_inputs_read;
  } catch (const ridgebench::UsageError&) {
    return 0;
  }
  return 0;
}
