// Bytes of one tensor and of the activations of a network.
#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"
#include "roofline/fp4.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"

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

// The bytes of a tensor of fp4: two elements share a byte, and each block of a row has a scale.
void add_fp4(PlanAnswer& answer, const TensorSize& tensor) {
  const double blocks = tensor.rows * std::ceil(tensor.row_length / Fp4::block);
  answer["bytes"] = std::ceil(tensor.elements() * Fp4::element_bytes) + blocks * Fp4::scale_bytes;
  answer["terms"] = {term("elements", tensor.elements(), "1"),
                     term("bytes of an element", Fp4::element_bytes, "byte"),
                     term(fmt::format("scales of {:g} byte, one for {:g} values of a row",
                                      Fp4::scale_bytes, Fp4::block),
                          blocks, "1")};
}

void add_elements(PlanAnswer& answer, const TensorSize& tensor, Format format) {
  const double width = info(format).storage_bytes;
  answer["bytes"] = tensor.elements() * width;
  answer["terms"] = {term("elements", tensor.elements(), "1"),
                     term("bytes of an element", width, "byte")};
}

// The number of layers whose outputs, and whose pre-activations, are in memory at the same time.
struct Alive {
  double checkpoints;  // outputs that stay: all of them without checkpointing
  double recomputed;   // outputs of the segment that the backward pass has reached
  double pre_activations;
  bool recomputes = false;

  [[nodiscard]] double outputs() const { return checkpoints + recomputed; }
  [[nodiscard]] double layers() const { return outputs() + pre_activations; }
};

Alive alive_layers(const ActivationQuestion& q) {
  const Alive all{q.layers, 0, q.pre_activations ? q.layers : 0};
  if (q.checkpoint == "none") return all;
  if (q.checkpoint != "sqrt") {
    throw UsageError(fmt::format("--checkpoint is '{}'; allowed: none, sqrt", q.checkpoint));
  }
  const double checkpoints = std::ceil(std::sqrt(q.layers));
  const double segment = std::ceil(q.layers / checkpoints);
  // The last output of a segment is a checkpoint, which is counted already.
  const Alive some{checkpoints, segment - 1, q.pre_activations ? segment : 0, true};
  return some.layers() < all.layers() ? some : all;
}

PlanAnswer inputs(const ActivationQuestion& q) {
  return {{"layers", q.layers},
          {"width", q.width},
          {"batch", q.batch},
          {"micro_batches", q.micro_batches},
          {"pre_activations", q.pre_activations},
          {"checkpoint", q.checkpoint},
          {"format", info(q.format).name}};
}

PlanAnswer on(const Roofs* device, PlanAnswer answer) {
  if (device == nullptr) return answer;
  answer["inputs"]["device"] = device->name();
  add_fits(answer, capacity_of(device, 1).value());
  return answer;
}

}  // namespace

PlanAnswer plan_tensor(const std::string& shape, const std::string& format, const Roofs* device) {
  const bool fp4 = format == "fp4" || format == Fp4::name;
  const Format other = fp4 ? Format{} : parse_format(format);
  const TensorSize tensor = size_of(shape);
  PlanAnswer answer{{"plan", "tensor"},
                    {"inputs", {{"shape", shape}, {"format", fp4 ? Fp4::name : info(other).name}}}};
  if (fp4) {
    add_fp4(answer, tensor);
  } else {
    add_elements(answer, tensor, other);
  }
  return on(device, std::move(answer));
}

PlanAnswer plan_activations(const ActivationQuestion& question, const Roofs* device) {
  whole("--layers", question.layers);
  whole("--width", question.width);
  whole("--batch", question.batch);
  if (whole("--micro-batches", question.micro_batches) > question.batch) {
    throw UsageError(fmt::format("--micro-batches is {:g}; allowed: at most the batch, {:g}",
                                 question.micro_batches, question.batch));
  }
  const Alive alive = alive_layers(question);
  const double rows = std::ceil(question.batch / question.micro_batches);
  const double layer = info(question.format).storage_bytes * rows * question.width;
  PlanAnswer answer{{"plan", "activations"},
                    {"inputs", inputs(question)},
                    {"bytes", layer * alive.layers()},
                    {"terms",
                     {term("rows of the largest micro-batch", rows, "1"),
                      term("one layer's output, rows x width", layer, "byte")}}};
  PlanAnswer& terms = answer["terms"];
  if (alive.recomputes) {
    terms.push_back(term("checkpoints, which stay", alive.checkpoints, "1"));
    terms.push_back(term("outputs recomputed in one segment", alive.recomputed, "1"));
  }
  terms.push_back(term("outputs alive at once", alive.outputs(), "1"));
  terms.push_back(term("pre-activations alive at once", alive.pre_activations, "1"));
  terms.push_back(term("extra forward passes", alive.recomputes ? 1 : 0, "1"));
  if (question.checkpoint == "sqrt" && !alive.recomputes) {
    answer["note"] = "for so few layers checkpoints save nothing: all outputs stay";
  }
  return on(device, std::move(answer));
}

}  // namespace ridgebench
