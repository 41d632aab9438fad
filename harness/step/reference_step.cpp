#include "harness/step/reference_step.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "harness/device/own_work.hpp"
#include "kernels/common/gelu_reference.hpp"
#include "kernels/common/operation.hpp"

namespace ridgebench {
namespace {

using Numbers = std::vector<double>;

// Rows of a matrix: `rows` x `columns`, row-major.
struct Matrix {
  std::int64_t rows;
  std::int64_t columns;
  Numbers values = Numbers(static_cast<std::size_t>(rows * columns));

  double* row(std::int64_t i) { return values.data() + i * columns; }
  [[nodiscard]] const double* row(std::int64_t i) const { return values.data() + i * columns; }
};

// A B^T
Matrix product_nt(const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.rows};
#pragma omp parallel for
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < b.rows; ++j) {
      const double* const x = a.row(i);
      const double* const y = b.row(j);
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t k = 0; k < a.columns; ++k) sum += x[k] * y[k];
      c.row(i)[j] = sum;
    }
  }
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix t{a.columns, a.rows};
#pragma omp parallel for
  for (std::int64_t i = 0; i < a.columns; ++i) {
    for (std::int64_t j = 0; j < a.rows; ++j) t.row(i)[j] = a.row(j)[i];
  }
  return t;
}

Matrix product_nn(const Matrix& a, const Matrix& b) { return product_nt(a, transposed(b)); }
Matrix product_tn(const Matrix& a, const Matrix& b) {
  return product_nt(transposed(a), transposed(b));
}

// The tensor of a name before the step, as numbers.
Numbers read(const Chain& chain, const std::string& name, Device& device) {
  const auto& tensors = chain.program().tensors();
  const auto found = std::ranges::find(tensors, name, &StepTensor::name);
  const auto id = static_cast<TensorId>(found - tensors.begin());
  const DeviceMemory::Region region{static_cast<std::byte*>(chain.data(id)),
                                    static_cast<std::size_t>(found->bytes())};
  HostBuffer copy;
  const View view{device.memory().on_host({&region, 1}, copy), found->format};
  Numbers numbers(static_cast<std::size_t>(found->elements));
  view.read(0, numbers);
  return numbers;
}

double slope_of_gelu(double x) {
  const double t = gelu_tanh(x);
  return 0.5 * (1 + t) + gelu_slope_of_tanh(x, t);
}

struct Reference {
  Numbers loss;
  std::vector<Matrix> gradients;
};

// Adds the loss of each row, and returns the gradient of the sum of the micro-batches' mean losses.
Matrix differentiate_loss(const Matrix& logits, const Numbers& labels, const TrainingStep& step,
                          Numbers& loss) {
  Matrix gradient{logits.rows, logits.columns};
  std::int64_t part = 0;
  std::int64_t end = step.rows(part);  // the row behind the micro-batch
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    if (i == end) end += step.rows(++part);
    const auto rows = static_cast<double>(step.rows(part));
    const double* const x = logits.row(i);
    const double most = *std::max_element(x, x + logits.columns);
    double sum = 0;
    for (std::int64_t j = 0; j < logits.columns; ++j) sum += std::exp(x[j] - most);
    const auto label = static_cast<std::int64_t>(labels[static_cast<std::size_t>(i)]);
    loss.push_back(std::log(sum) + most - x[label]);
    for (std::int64_t j = 0; j < logits.columns; ++j) {
      const double p = std::exp(x[j] - most) / sum;
      gradient.row(i)[j] = (p - (j == label ? 1 : 0)) / rows;
    }
  }
  return gradient;
}

// The step without checkpoints, and all micro-batches at once: no value changes in exact
// arithmetic.
Reference reference_of(const std::vector<Matrix>& w, const Matrix& x, const Numbers& labels,
                       const TrainingStep& step) {
  const OwnWork own;
  const bool relu = step.activation == Activation::relu;
  std::vector<Matrix> z;
  std::vector<Matrix> h{x};
  for (const Matrix& parameters : w) {
    z.push_back(product_nt(h.back(), parameters));
    Matrix out = z.back();
    for (double& value : out.values) value = relu ? std::max(value, 0.0) : gelu_reference(value);
    h.push_back(std::move(out));
  }
  Reference result;
  Matrix gradient = differentiate_loss(h.back(), labels, step, result.loss);
  result.gradients.assign(w.size(), Matrix{0, 0});
  for (std::size_t l = w.size(); l-- > 0;) {
    for (std::size_t i = 0; i < gradient.values.size(); ++i) {
      const double before = z[l].values[i];
      gradient.values[i] *= relu ? (before > 0 ? 1.0 : 0.0) : slope_of_gelu(before);
    }
    result.gradients[l] = product_tn(gradient, h[l]);
    if (l > 0) gradient = product_nn(gradient, w[l]);
  }
  return result;
}

// Adds the squares of a difference and of the reference.
struct Norms {
  double difference = 0;
  double reference = 0;

  void add(const Numbers& found, const Numbers& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      difference += (found[i] - expected[i]) * (found[i] - expected[i]);
      reference += expected[i] * expected[i];
    }
  }
  [[nodiscard]] double relative() const {
    return difference == 0 ? 0 : std::sqrt(difference / reference);
  }
};

// The launches before those that set the gradients to zero.
std::span<const Launch> before_clearing(const Chain& chain) {
  const std::vector<StepLaunch>& planned = chain.program().launches();
  const auto zero = std::ranges::find(planned, "zero", &StepLaunch::phase);
  return chain.launches().first(static_cast<std::size_t>(zero - planned.begin()));
}

}  // namespace

EndToEnd end_to_end_tolerances(const TrainingStep& step) {
  const double u = info(step.format).epsilon() / 2;
  const double u_acc = info(Format::fp32).epsilon() / 2;
  const auto terms = static_cast<double>(std::max(step.width, step.batch));
  const double allowed =
      8 * (u_acc * std::sqrt(terms) + u) * std::sqrt(4 * static_cast<double>(step.layers));
  EndToEnd result;
  result.loss_tolerance = allowed;
  result.gradients_tolerance = step.activation == Activation::relu ? std::sqrt(allowed) : allowed;
  return result;
}

std::optional<EndToEnd> compare_end_to_end(Chain& chain, const TrainingStep& step, Device& device) {
  if (step.model_flops() > kMostReferenceFlops) return std::nullopt;
  chain.fill();
  std::vector<Matrix> w;
  for (std::int64_t l = 1; l <= step.layers; ++l) {
    w.push_back({step.width, step.width, read(chain, "W" + std::to_string(l), device)});
  }
  const Matrix x{step.batch, step.width, read(chain, "x", device)};
  const Reference expected = reference_of(w, x, read(chain, "labels", device), step);
  static_cast<void>(device.time_once(before_clearing(chain)));
  EndToEnd result = end_to_end_tolerances(step);
  Norms loss;
  loss.add(read(chain, "loss", device), expected.loss);
  result.loss_error = loss.relative();
  Norms gradients;
  for (std::size_t l = 0; l < w.size(); ++l) {
    gradients.add(read(chain, "G" + std::to_string(l + 1), device), expected.gradients[l].values);
  }
  result.gradients_error = gradients.relative();
  return result;
}

}  // namespace ridgebench
