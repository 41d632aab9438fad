// Bytes of one tensor and of the activations of a network.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"

namespace ridgebench {
namespace {

double elements_of(std::string_view shape) {
  double elements = 1;
  const char* position = shape.data();
  const char* const end = shape.data() + shape.size();
  while (true) {
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(position, end, size);
    const bool separated = next == end || *next == 'x';
    if (error != std::errc{} || !separated || size < 1) {
      throw UsageError(
          fmt::format("--shape is '{}'; allowed: whole numbers from 1 joined by x, "
                      "such as 49152x12288",
                      shape));
    }
    elements *= static_cast<double>(size);
    if (next == end) return whole("--shape as a number of elements", elements);
    position = next + 1;
  }
}

// The number of layers whose outputs, and whose pre-activations, are in memory at the same time.
struct Alive {
  double outputs;
  double pre_activations;
};

Alive alive_layers(const ActivationQuestion& q) {
  if (q.checkpoint == "none") return {q.layers, q.pre_activations ? q.layers : 0};
  if (q.checkpoint != "sqrt") {
    throw UsageError(fmt::format("--checkpoint is '{}'; allowed: none, sqrt", q.checkpoint));
  }
  const double checkpoints = std::ceil(std::sqrt(q.layers));
  const double segment = std::ceil(q.layers / checkpoints);
  // The last output of a segment is a checkpoint, which is counted already.
  return {checkpoints + segment - 1, q.pre_activations ? segment : 0};
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

PlanAnswer plan_tensor(const std::string& shape, Format format, const Roofs* device) {
  const double elements = elements_of(shape);
  const double width = info(format).storage_bytes;
  return on(
      device,
      {{"plan", "tensor"},
       {"inputs", {{"shape", shape}, {"format", info(format).name}}},
       {"bytes", elements * width},
       {"terms", {term("elements", elements, "1"), term("bytes of an element", width, "byte")}}});
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
  const bool recomputes = question.checkpoint == "sqrt";
  return on(device, {{"plan", "activations"},
                     {"inputs", inputs(question)},
                     {"bytes", layer * (alive.outputs + alive.pre_activations)},
                     {"terms",
                      {term("rows of the largest micro-batch", rows, "1"),
                       term("one layer's output, rows x width", layer, "byte"),
                       term("outputs alive at once", alive.outputs, "1"),
                       term("pre-activations alive at once", alive.pre_activations, "1"),
                       term("extra forward passes", recomputes ? 1 : 0, "1")}}});
}

}  // namespace ridgebench
