#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/cli/doctor/finding.hpp"

namespace ridgebench::doctor {
namespace {

void judge_cublas(const Facts& facts, Judge& judge) {
  if (cuda_of_build(facts) == 0 || !shows_gpu(facts)) return;
  const std::string version = text_at(facts, "/libraries/cublas/version");
  if (!version.empty()) {
    judge.ok("cublas",
             fmt::format("cuBLAS {} ({})", version, text_at(facts, "/libraries/cublas/file")));
    return;
  }
  const int major = cuda_major_of_build(facts);
  const std::string package =
      major >= 13 ? "nvidia-cublas" : fmt::format("nvidia-cublas-cu{}", major);
  judge.warn(
      "cublas_missing",
      fmt::format("{} was not found: the rows of cuBLAS are skipped",
                  text_at(facts, "/libraries/cublas/looked_for")),
      fmt::format("pip install {0}, or put the folder of the library on LD_LIBRARY_PATH", package));
}

// "OpenBLAS 0.3.21 on Zen (FILE)" of the library's text, which names all its options.
std::string short_openblas(const Facts& openblas) {
  const std::string text = text_at(openblas, "/version");
  const std::size_t blank = text.find(' ');
  const std::size_t second = blank == text.npos ? blank : text.find(' ', blank + 1);
  const std::size_t core = text.rfind(" on ");
  const std::string name =
      core == text.npos ? text : text.substr(0, std::min(second, core)) + text.substr(core);
  return fmt::format("{} ({})", name, text_at(openblas, "/file"));
}

// "avx2" of "cpu_isa_avx2".
std::string short_isa(const std::string& isa) {
  constexpr std::string_view kPrefix = "cpu_isa_";
  return isa.starts_with(kPrefix) ? isa.substr(kPrefix.size()) : isa;
}

void judge_yardsticks(const Facts& libraries, Judge& judge) {
  if (const std::string cub = text_at(libraries, "/cub"); !cub.empty())
    judge.ok("cub", "CUB " + cub);
  const std::string openblas = text_at(libraries, "/openblas/version").empty()
                                   ? ""
                                   : short_openblas(value_at(libraries, "/openblas"));
  const std::string better = text_at(libraries, "/openblas/better_core");
  if (openblas.empty()) {
    judge.note("openblas_missing",
               "OpenBLAS: not built in or not installed; its fp32 rows of the host are skipped",
               "sudo apt install libopenblas-dev, and build again");
  } else if (!better.empty()) {
    judge.warn("openblas_core", openblas + ": this processor can do more",
               "unset OPENBLAS_CORETYPE (it would be " + better + ")");
  } else {
    judge.ok("openblas", openblas);
  }
  const std::string onednn = text_at(libraries, "/onednn/version");
  const std::string isa = short_isa(text_at(libraries, "/onednn/isa"));
  if (onednn.empty()) {
    judge.note("onednn_missing",
               "oneDNN: not built in or not installed; its rows of the host are skipped",
               "sudo apt install libdnnl-dev, and build again");
  } else if (std::getenv("ONEDNN_MAX_CPU_ISA") != nullptr) {
    judge.note("onednn_isa", fmt::format("oneDNN {} is limited to {}", onednn, isa),
               "unset ONEDNN_MAX_CPU_ISA");
  } else {
    judge.ok("onednn", fmt::format("oneDNN {} with {} ({})", onednn, isa,
                                   text_at(libraries, "/onednn/file")));
  }
}

}  // namespace

void judge_libraries(const Facts& facts, Findings& to) {
  Judge judge(to, "libraries");
  judge_cublas(facts, judge);
  judge_yardsticks(value_at(facts, "/libraries"), judge);
}

}  // namespace ridgebench::doctor
