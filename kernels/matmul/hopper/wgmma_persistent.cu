// The top of the ladder: the persistent kernel of wgmma_persistent.cuh in all formats that wgmma
// multiplies, plain and with bias and GeLU in the epilogue. `wgmma_persistent` takes the tile that
// arithmetic suggests, `wgmma_tuned` the fastest, as `cublas` and `cublas_tuned` do. In fp8
// `_fast_accum` leaves a sum in the tensor cores, and `_promoted` moves it to fp32 every 128 of k;
// they correspond to cuBLASLt with and without its FAST_ACCUM. GeLU is promoted, as is cuBLASLt's
// default.
#include <array>

#include "kernels/matmul/hopper/wgmma_persistent.cuh"

namespace ridgebench::cuda {
namespace {

// One technique and its tuned twin.
template <class List, bool kGelu, class... Products>
std::array<Registration, 2> registrations(const Technique& technique, std::string_view tuned_name,
                                          Types<Products...> types) {
  Technique tuned = technique;
  tuned.name = tuned_name;
  const auto bind_for = []<class P>() {
    using A = typename P::A;
    using B = typename P::B;
    using Out = typename P::Out;
    if constexpr (kGelu) {
      return bind_gelu<List, A, B, Out>;
    } else {
      return bind_plain<List, A, B, Out>;
    }
  };
  return {
      Registration(technique, types,
                   [=]<class P>() {
                     return planned(
                         prepare_choice<List, kGelu, typename P::A, typename P::B, typename P::Out>,
                         bind_for.template operator()<P>(), all_choices<List>);
                   }),
      Registration(tuned, types, [=]<class P>() {
        return planned(prepare_tuned<List, kGelu, typename P::A, typename P::B, typename P::Out>,
                       bind_for.template operator()<P>(), all_choices<List>);
      })};
}

Technique technique(const std::string& operation, const std::string& name,
                    double accumulation_error, double approximation_error) {
  return {.operation = operation,
          .name = name,
          .engine = Engine::tensor,
          .supports = supports_persistent,
          .accumulator_bits = accumulation_error == kFp8SumError ? kFp8SumBits : 0,
          .accumulation_error = accumulation_error,
          .approximation_error = approximation_error};
}

const auto wide = registrations<FastTiles, false>(technique("matmul", "wgmma_persistent", 0, 0),
                                                  "wgmma_tuned", Tf32Products{} + HalfProducts{});
const auto fast = registrations<FastTiles, false>(
    technique("matmul", "wgmma_persistent_fast_accum", kFp8SumError, 0), "wgmma_tuned_fast_accum",
    Fp8Products{});
const auto promoted = registrations<PromotedTiles, false>(
    technique("matmul", "wgmma_persistent_promoted", kFp8PromotedError, 0), "wgmma_tuned_promoted",
    Fp8Products{});

const auto gelu_tf32 = registrations<FastTiles, true>(
    technique("matmul_gelu", "wgmma_persistent", 0, kGeluExp2Error), "wgmma_tuned", Tf32Products{});
const auto gelu_half = registrations<FastTiles, true>(
    technique("matmul_gelu", "wgmma_persistent", 0, kGeluTanhError), "wgmma_tuned", HalfProducts{});
const auto gelu_promoted = registrations<PromotedTiles, true>(
    technique("matmul_gelu", "wgmma_persistent_promoted", kFp8PromotedError, kGeluTanhError),
    "wgmma_tuned_promoted", Fp8Products{});

}  // namespace
}  // namespace ridgebench::cuda
