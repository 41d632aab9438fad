// MFU of training steps in published runs, and where the time goes below that.
#pragma once

#include <array>
#include <string_view>

namespace ridgebench {

// The MFU of a step from `least` up to the next row's. `look` says where to look first.
struct MfuRange {
  double least;
  std::string_view meaning;
  std::string_view look;
};

// The bounds 0.3, 0.5 and 0.6 are those of the lecture; the runs in `kPublishedMfu` lie among them.
inline constexpr std::array kMfuRanges{
    MfuRange{
        0.9, "above what a step reaches",
        "check the FLOPs, the time and the peak: 6 FLOPs a parameter and token, the dense peak"},
    MfuRange{0.6, "very good: hardly any time outside matrix products",
             "compare with the best single matmul: run --op matmul"},
    MfuRange{0.5, "good", "the rest is the optimizer, norms, attention and communication"},
    MfuRange{0.3, "usual",
             "recomputation, which MFU does not count; communication that is not hidden; small "
             "products: predict model --training"},
    MfuRange{0, "low: look for the cause",
             "waiting for data, launches, a small batch, a wrong format, memory-bound rows: "
             "predict model --training; a profile of one step"}};

// MFU of published training runs.
struct PublishedMfu {
  std::string_view run;
  double mfu;
  std::string_view source;
};
inline constexpr std::array kPublishedMfu{
    PublishedMfu{"GPT-3 175B, V100", 0.213, "arXiv 2204.02311, table 3"},
    PublishedMfu{"MT-NLG 530B, A100", 0.302, "arXiv 2204.02311, table 3"},
    PublishedMfu{"Gopher 280B, TPU v3", 0.325, "arXiv 2204.02311, table 3"},
    PublishedMfu{"Llama 3 405B, 16384 H100, 131072 tokens", 0.38, "arXiv 2407.21783, table 4"},
    PublishedMfu{"Llama 3 405B, 8192 H100", 0.43, "arXiv 2407.21783, table 4"},
    PublishedMfu{"PaLM 540B, TPU v4", 0.462, "arXiv 2204.02311, table 3"}};

// The range of an MFU.
constexpr const MfuRange& mfu_range(double mfu) {
  for (const MfuRange& range : kMfuRanges) {
    if (mfu >= range.least) return range;
  }
  return kMfuRanges.back();
}

}  // namespace ridgebench
