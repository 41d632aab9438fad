// Bytes of one tensor and of the activations of a network.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"
#include "roofline/plan/network.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"
#include "roofline/transformer/weights.hpp"

namespace ridgebench {
namespace {

// The rows of a tensor are contiguous along its last dimension.
struct TensorSize {
  double rows = 1;
  double row_length = 1;

  [[nodiscard]] double elements() const { return rows * row_length; }
};

TensorSize size_of(std::string_view shape) {
  TensorSize tensor;
  for (std::string_view rest = shape;;) {
    const std::size_t cross = rest.find('x');
    const double size = parse_number(rest.substr(0, cross)).value_or(0);
    if (size < 1 || size != std::floor(size)) {
      throw UsageError(
          fmt::format("--shape is '{}'; allowed: whole numbers from 1 joined by x, "
                      "such as 49152x12288",
                      shape));
    }
    tensor.rows = tensor.elements();
    tensor.row_length = size;
    whole("--shape as a number of elements", tensor.elements());
    if (cross == std::string_view::npos) return tensor;
    rest.remove_prefix(cross + 1);
  }
}

// The bytes of a tensor in blocks: elements of less than a byte share one, and each block of a row
// has a scale.
void add_blocks(PlanAnswer& answer, const TensorSize& tensor, const StoredFormat& format) {
  const double blocks = tensor.rows * std::ceil(tensor.row_length / format.block);
  answer["bytes"] =
      std::ceil(tensor.elements() * format.element_bytes) + blocks * format.scale_bytes;
  answer["terms"] = {term("elements", tensor.elements(), "1"),
                     term("bytes of an element", format.element_bytes, "byte"),
                     term(fmt::format("scales of {:g} byte, one for {:g} values of a row",
                                      format.scale_bytes, format.block),
                          blocks, "1"),
                     term("bytes of an element with its scale", format.bytes_per_value(), "byte")};
}

void add_elements(PlanAnswer& answer, const TensorSize& tensor, double width) {
  answer["bytes"] = tensor.elements() * width;
  answer["terms"] = {term("elements", tensor.elements(), "1"),
                     term("bytes of an element", width, "byte")};
}

PlanAnswer on(const Roofs* device, PlanAnswer answer) {
  if (device == nullptr) return answer;
  answer["inputs"]["device"] = device->name();
  add_fits(answer, capacity_of(device, 1).value());
  return answer;
}

}  // namespace

PlanAnswer plan_tensor(const std::string& shape, const std::string& format, const Roofs* device) {
  const StoredFormat stored = parse_stored_format("--format", format);
  const TensorSize tensor = size_of(shape);
  PlanAnswer answer{{"plan", "tensor"}, {"inputs", {{"shape", shape}, {"format", stored.name}}}};
  if (stored.block > 0) {
    add_blocks(answer, tensor, stored);
  } else {
    add_elements(answer, tensor, stored.element_bytes);
  }
  return on(device, std::move(answer));
}

PlanAnswer plan_activations(const ActivationQuestion& question, const Roofs* device) {
  const ActivationQuestion q = checked(question);
  const NetworkBytes network = network_bytes(q, micro_batch_rows(q));
  const Kept kept = kept_bytes(network, q.checkpoint);
  PlanAnswer answer{{"plan", "activations"},
                    {"inputs", activation_inputs(q)},
                    {"bytes", kept.bytes},
                    {"terms", activation_terms(q, network, kept)}};
  std::vector<std::string> notes;
  if (q.checkpoint != "none" && kept.recomputed == 0) {
    notes.emplace_back(q.checkpoint == "layer" && !q.model && !q.pre_activations
                           ? "checkpoints save nothing here: without --pre-activations each "
                             "layer's output is all there is to keep"
                           : "for so few layers checkpoints save nothing: all outputs stay");
  }
  if (!q.model) {
    notes.emplace_back(
        "only what layers keep is counted, rows x width a layer; `ridgebench plan fits` counts the "
        "input, gradients and temporary tensors of a step too");
  }
  notes.push_back(context_note(q));
  if (const std::string note = joined_notes(notes); !note.empty()) answer["note"] = note;
  return on(device, std::move(answer));
}

}  // namespace ridgebench
