// Notes on what a prediction of a transformer leaves out or supposes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "roofline/transformer/predict_transformer.hpp"

namespace ridgebench {

struct NoteFacts {
  const TransformerQuestion& question;
  std::optional<double> launch_floor_s;
  std::optional<std::string> missing_peak;  // of arithmetic that the question counts
};

// The notes of the model itself are the last.
std::vector<std::string> prediction_notes(const Transformer& model, const NoteFacts& facts);

}  // namespace ridgebench
