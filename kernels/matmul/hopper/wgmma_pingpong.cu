// The kernel of wgmma_pingpong.cuh in the formats whose sums fit into the registers of one
// warpgroup: all but promoted fp8, which needs a second set. The limit is the rate of the tensor
// cores, or the power that they draw.
#include "kernels/matmul/hopper/wgmma_pingpong.cuh"

namespace ridgebench::cuda {
namespace {

const Registration wgmma_pingpong{
    []<class P>() {
      return wgmma_technique<P>(
          kIsFp8<typename P::A> ? "wgmma_pingpong_fast_accum" : "wgmma_pingpong",
          supports_persistent);
    },
    WgmmaProducts{},
    []<class P>() {
      using A = typename P::A;
      using B = typename P::B;
      using Out = typename P::Out;
      return planned(prepare_choice<AllPingpongTiles, false, A, B, Out>,
                     bind_plain<AllPingpongTiles, A, B, Out>, all_choices<AllPingpongTiles>);
    }};

const Registration wgmma_pingpong_gelu{
    []<class P>() {
      Technique technique = wgmma_technique<P>("wgmma_pingpong", supports_persistent);
      technique.operation = "matmul_gelu";
      technique.approximation_error = sizeof(typename P::A) == 2 ? kGeluTanhError : kGeluExp2Error;
      return technique;
    },
    Tf32Products{} + HalfProducts{},
    []<class P>() {
      using A = typename P::A;
      using B = typename P::B;
      using Out = typename P::Out;
      return planned(prepare_choice<AllPingpongTiles, true, A, B, Out>,
                     bind_gelu<AllPingpongTiles, A, B, Out>, all_choices<AllPingpongTiles>);
    }};

}  // namespace
}  // namespace ridgebench::cuda
