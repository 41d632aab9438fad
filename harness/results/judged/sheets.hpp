// The roofs that data sheets promise, in the form in which figures draw them.
#pragma once

#include <string>
#include <vector>

#include "harness/results/key.hpp"
#include "kernels/common/operation.hpp"

namespace ridgebench {

struct PromisedPeak {
  std::string format;
  Engine engine = Engine::fma;
  double flops_per_s = 0;
};

struct JudgedSheet {
  std::string name;
  std::string title;
  std::string memory;
  double bytes_per_s = 0;
  std::vector<PromisedPeak> peaks = {};
};

// clang-format off
inline constexpr KeyList kPromisedPeakKeys{
    Key{"format", &PromisedPeak::format, "", "format of the arithmetic"},
    Key{"engine", &PromisedPeak::engine, "", "the fastest engine in it"},
    Key{"flops_per_s", &PromisedPeak::flops_per_s, "FLOP/s", "dense peak with sums in fp32", kPositive},
};

inline constexpr KeyList kJudgedSheetKeys{
    Key{"name", &JudgedSheet::name, "", "of the data sheet"},
    Key{"title", &JudgedSheet::title, "", "its heading"},
    Key{"memory", &JudgedSheet::memory, "", "kind of the memory"},
    Key{"bytes_per_s", &JudgedSheet::bytes_per_s, "byte/s", "bandwidth of the memory", kPositive},
    Key{"peaks", &JudgedSheet::peaks, "", "one for each format"},
};
// clang-format on

constexpr const auto& keys_of(const PromisedPeak*) { return kPromisedPeakKeys; }
constexpr const auto& keys_of(const JudgedSheet*) { return kJudgedSheetKeys; }

// The sheet of a name, an alias or a file. Throws UsageError.
JudgedSheet judged_sheet(const std::string& name);

}  // namespace ridgebench
