#include "harness/results/held_back.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/common/cpu/openblas.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX declares it nowhere

namespace ridgebench {
namespace {

// The one list: techniques whose names begin so call a library that reads the variables with this
// prefix. A system may install Intel's MKL under the name of OpenBLAS.
struct Reads {
  std::string_view technique;
  std::string_view prefix;
};
constexpr std::array<Reads, 9> kReads{{{"onednn", "ONEDNN_"},
                                       {"onednn", "DNNL_"},
                                       {"onednn", "MKLDNN_"},
                                       {"openblas", "OPENBLAS_"},
                                       {"openblas", "GOTO_"},
                                       {"openblas", "MKL_"},
                                       {"cublas", "CUBLAS_"},
                                       {"cublas", "CUBLASLT_"},
                                       {"cublas", "NVIDIA_TF32_OVERRIDE"}}};

// Values that are the default.
constexpr std::array<std::string_view, 5> kDefaults{"", "DEFAULT", "ALL", "default", "all"};
// The harness sets the number of threads itself.
constexpr std::array<std::string_view, 4> kOverridden{
    "OPENBLAS_NUM_THREADS", "OPENBLAS_DEFAULT_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS"};

bool is_one_of(std::string_view text, const auto& list) {
  return std::ranges::find(list, text) != list.end();
}

bool holds_back(std::string_view name, std::string_view value) {
  if (is_one_of(value, kDefaults) || is_one_of(name, kOverridden)) return false;
  const bool report = name.find("VERBOSE") != name.npos || name.find("LOG") != name.npos;
  if (report && value == "0") return false;
  // A user may have chosen the kernels that the library should have chosen itself.
  return name != kOpenblasCore || !better_openblas_core().empty();
}

}  // namespace

std::vector<std::string_view> library_prefixes() {
  std::vector<std::string_view> prefixes;
  prefixes.reserve(kReads.size());
  for (const Reads& reads : kReads) prefixes.push_back(reads.prefix);
  return prefixes;
}

std::optional<std::string> held_back_by(std::string_view technique) {
  std::vector<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view value = text.substr(std::min(equals + 1, text.size()));
    const bool read = std::ranges::any_of(kReads, [&](const Reads& reads) {
      return technique.starts_with(reads.technique) && text.starts_with(reads.prefix);
    });
    if (read && holds_back(text.substr(0, equals), value)) found.emplace_back(text);
  }
  if (found.empty()) return std::nullopt;
  std::ranges::sort(found);  // the environment has no order
  std::string all;
  for (const std::string& one : found) all += (all.empty() ? "" : " ") + one;
  return all;
}

}  // namespace ridgebench
