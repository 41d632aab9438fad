// The kernel of wgmma_pingpong.cuh in the formats whose sums fit into the registers of one
// warpgroup: all but promoted fp8, which needs a second set. The limit is the rate of the tensor
// cores, or the power that they draw.
#include "kernels/matmul/hopper/wgmma_pingpong.cuh"

namespace ridgebench::cuda {
namespace {

using WidePingpong = PingpongTiles<PingpongTile<128, 192>>;

const Registration wgmma_pingpong{
    []<class P>() {
      return wgmma_technique<P>(
          kIsFp8<typename P::A> ? "wgmma_pingpong_fast_accum" : "wgmma_pingpong",
          supports_persistent);
    },
    WgmmaProducts{},
    []<class P>() {
      return planned(prepare_choice<WidePingpong>,
                     bind_plain<WidePingpong, typename P::A, typename P::B, typename P::Out>);
    }};

}  // namespace
}  // namespace ridgebench::cuda
