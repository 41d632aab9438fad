#include "kernels/common/cpu/openblas.hpp"

#include "kernels/common/error.hpp"

#ifdef RIDGEBENCH_OPENBLAS
#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "kernels/common/isa_level.hpp"
#include "kernels/common/lib/library_folders.hpp"
#include "kernels/common/product_strides.hpp"
#include "kernels/common/shared_library.hpp"
#endif

namespace ridgebench {

#ifdef RIDGEBENCH_OPENBLAS

namespace {

// Core types whose kernels use no AVX, and no AVX-512 (OpenBLAS, driver/others/dynamic.c).
constexpr std::array<std::string_view, 11> kSseCores{
    "Prescott", "Core2",     "Penryn", "Dunnington",   "Nehalem", "Atom",
    "Opteron",  "Barcelona", "Bobcat", "Opteron_SSE3", "Nano"};
constexpr std::array<std::string_view, 2> kAvx2Cores{"Haswell", "Zen"};

// A core type for this processor where `core` is one of an older instruction set, whose kernels
// take twice as long or more; "" where `core` is a good choice.
std::string better_core(std::string_view core) {
  const auto is_one_of = [core](const auto& cores) {
    return std::ranges::find(cores, core) != cores.end();
  };
  const Isa isa = host_isa();
  if (isa == Isa::v4 && (is_one_of(kSseCores) || is_one_of(kAvx2Cores))) return "SKYLAKEX";
  return isa == Isa::v3 && is_one_of(kSseCores) ? "HASWELL" : "";
}

// A release that is older than the processor may not support it and choose a core type of an older
// instruction set. The library is then loaded again with a better one, because a yardstick must be
// at its best; a choice of the user's is kept.
SharedLibrary load_openblas() {
  // Fedora and its relatives have the library with OpenMP under a name of its own.
  const LibraryPlaces places{.names = {"libopenblaso.so.0", "libopenblas.so.0"},
                             .folders = python_library_folders(),
                             .needs = {},
                             .advice = "Debian's libopenblas0-openmp or conda's openblas has it"};
  // The library maps a buffer for each thread when it is loaded, and one more for a call. It tries
  // for ever (OpenBLAS 0.3.21, blas_memory_alloc).
  constexpr std::size_t kBuffer = std::size_t{128} << 20U;
  const auto threads =
      static_cast<std::size_t>(std::max(omp_get_num_procs(), omp_get_max_threads()));
  const std::size_t bytes = (threads + 1) * kBuffer;
  SharedLibrary library(places, bytes);
  void* const name = library.find("openblas_get_corename");
  if (name == nullptr || std::getenv(kOpenblasCore) != nullptr) return library;
  const std::string core = better_core(reinterpret_cast<char* (*)()>(name)());
  if (core.empty()) return library;
  library.unload();
  setenv(kOpenblasCore, core.c_str(), 1);
  SharedLibrary reloaded(places, bytes);
  unsetenv(kOpenblasCore);
  return reloaded;
}

const SharedLibrary& openblas() {
  static const SharedLibrary loaded = load_openblas();
  return loaded;
}

RIDGEBENCH_LOADED_FUNCTION(openblas(), openblas_get_config);
RIDGEBENCH_LOADED_FUNCTION(openblas(), openblas_get_corename);
RIDGEBENCH_LOADED_FUNCTION(openblas(), openblas_set_num_threads);
RIDGEBENCH_LOADED_FUNCTION(openblas(), cblas_sdot);
RIDGEBENCH_LOADED_FUNCTION(openblas(), cblas_sgemv);
RIDGEBENCH_LOADED_FUNCTION(openblas(), cblas_sgemm);

blasint size(const Shape& shape, std::string_view dimension) {
  return static_cast<blasint>(shape[dimension]);
}

}  // namespace

std::optional<std::string> supports_openblas(const Machine& /*machine*/, const Shape& shape,
                                             FormatPair /*format*/) {
  for (const auto& [dimension, elements] : shape.dimensions()) {
    if (elements > std::numeric_limits<blasint>::max()) return "larger than OpenBLAS's integers";
  }
  return std::nullopt;
}

std::string openblas_version() {
  if (!openblas().loaded()) return {};
  return std::string(openblas_get_config()) + " on " + openblas_get_corename();
}

std::string better_openblas_core() {
  return openblas().loaded() ? better_core(openblas_get_corename()) : std::string();
}

// The library has one thread count for the whole process, which every bind sets.
Launch openblas_dot(Queue& queue, const Shape& shape, const float* x, const float* y, float* s) {
  openblas_set_num_threads(queue.threads());
  return [n = size(shape, "n"), x, y, s] { *s = cblas_sdot(n, x, 1, y, 1); };
}

Launch openblas_matvec(Queue& queue, const Shape& shape, const float* a, const float* x, float* y) {
  openblas_set_num_threads(queue.threads());
  return [m = size(shape, "m"), n = size(shape, "n"), a, x, y] {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, m, n, 1.0F, a, n, x, 1, 0.0F, y, 1);
  };
}

Launch openblas_matmul(Queue& queue, const Shape& shape, const float* a, const float* b, float* c) {
  openblas_set_num_threads(queue.threads());
  const bool a_transposed = shape.layout() == Layout::tn;
  const bool b_transposed = shape.layout() == Layout::nt;
  return [m = size(shape, "m"), n = size(shape, "n"), k = size(shape, "k"), batch = batch_of(shape),
          of_a = lines_of_a(shape), of_b = lines_of_b(shape), of_c = lines_of_c(shape),
          a_transposed, b_transposed, a, b, c] {
    for (std::int64_t i = 0; i < batch; ++i) {
      cblas_sgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
                  b_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1.0F, a + i * of_a.elements(),
                  static_cast<blasint>(of_a.stride), b + i * of_b.elements(),
                  static_cast<blasint>(of_b.stride), 0.0F, c + i * of_c.elements(),
                  static_cast<blasint>(of_c.stride));
    }
  };
}

#else

namespace {
[[noreturn]] Launch no_openblas() { throw Unsupported("built without OpenBLAS"); }
}  // namespace

std::optional<std::string> supports_openblas(const Machine&, const Shape&, FormatPair) {
  return "built without OpenBLAS";
}
std::string openblas_version() { return {}; }
std::string better_openblas_core() { return {}; }
Launch openblas_dot(Queue&, const Shape&, const float*, const float*, float*) { no_openblas(); }
Launch openblas_matvec(Queue&, const Shape&, const float*, const float*, float*) { no_openblas(); }
Launch openblas_matmul(Queue&, const Shape&, const float*, const float*, float*) { no_openblas(); }

#endif

}  // namespace ridgebench
