#include "kernels/common/cpu/openblas.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "kernels/common/error.hpp"
#include "kernels/common/isa_level.hpp"

#ifdef RIDGEBENCH_OPENBLAS
#include <cblas.h>
#endif

namespace ridgebench {

#ifdef RIDGEBENCH_OPENBLAS

namespace {

blasint size(const Shape& shape, std::string_view dimension) {
  if (shape[dimension] > std::numeric_limits<blasint>::max()) {
    throw Unsupported("larger than OpenBLAS's integers");
  }
  return static_cast<blasint>(shape[dimension]);
}

// Cores whose kernels do without AVX, and without AVX-512 (OpenBLAS, driver/others/dynamic.c).
constexpr std::array<std::string_view, 11> kSseCores{
    "Prescott", "Core2",     "Penryn", "Dunnington",   "Nehalem", "Atom",
    "Opteron",  "Barcelona", "Bobcat", "Opteron_SSE3", "Nano"};
constexpr std::array<std::string_view, 2> kAvx2Cores{"Haswell", "Zen"};

// The library has one thread count for the whole process.
void use_threads(const Queue& queue) { openblas_set_num_threads(queue.threads()); }

}  // namespace

std::string openblas_version() {
  return std::string(openblas_get_config()) + " on " + openblas_get_corename();
}

std::string better_openblas_core() {
  const auto chosen_from = [core = std::string_view(openblas_get_corename())](const auto& cores) {
    return std::ranges::find(cores, core) != cores.end();
  };
  const Isa isa = host_isa();
  if (isa == Isa::v4 && (chosen_from(kSseCores) || chosen_from(kAvx2Cores))) return "SKYLAKEX";
  return isa == Isa::v3 && chosen_from(kSseCores) ? "HASWELL" : "";
}

Launch openblas_dot(Queue& queue, const Shape& shape, const float* x, const float* y, float* s) {
  use_threads(queue);
  return [n = size(shape, "n"), x, y, s] { *s = cblas_sdot(n, x, 1, y, 1); };
}

Launch openblas_matvec(Queue& queue, const Shape& shape, const float* a, const float* x, float* y) {
  use_threads(queue);
  return [m = size(shape, "m"), n = size(shape, "n"), a, x, y] {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, m, n, 1, a, n, x, 1, 0, y, 1);
  };
}

Launch openblas_matmul(Queue& queue, const Shape& shape, const float* a, const float* b, float* c) {
  use_threads(queue);
  const bool a_transposed = shape.layout() == Layout::tn;
  const bool b_transposed = shape.layout() == Layout::nt;
  return [m = size(shape, "m"), n = size(shape, "n"), k = size(shape, "k"), a_transposed,
          b_transposed, a, b, c] {
    cblas_sgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
                b_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1, a, a_transposed ? m : k, b,
                b_transposed ? k : n, 0, c, n);
  };
}

#else

namespace {
[[noreturn]] void no_openblas() { throw Unsupported("built without OpenBLAS"); }
}  // namespace

std::string openblas_version() { return {}; }
std::string better_openblas_core() { return {}; }
Launch openblas_dot(Queue& /*queue*/, const Shape& /*shape*/, const float* /*x*/,
                    const float* /*y*/, float* /*s*/) {
  no_openblas();
}
Launch openblas_matvec(Queue& /*queue*/, const Shape& /*shape*/, const float* /*a*/,
                       const float* /*x*/, float* /*y*/) {
  no_openblas();
}
Launch openblas_matmul(Queue& /*queue*/, const Shape& /*shape*/, const float* /*a*/,
                       const float* /*b*/, float* /*c*/) {
  no_openblas();
}

#endif

}  // namespace ridgebench
