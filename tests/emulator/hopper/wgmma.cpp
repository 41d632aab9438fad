#include "tests/emulator/hopper/wgmma.hpp"

#include <string_view>

#include "tests/emulator/core/block.hpp"
#include "tests/emulator/hopper/cluster.hpp"
#include "tests/emulator/hopper/wgmma_operand.hpp"
#include "tests/emulator/ptx/products.hpp"

namespace ridgebench::emulator {
namespace {

constexpr unsigned kRows = 64;

bool same(const Wgmma& x, const Wgmma& y) {
  return x.a_format == y.a_format && x.b_format == y.b_format && x.columns == y.columns &&
         x.across_a == y.across_a && x.across_b == y.across_b && x.a == y.a && x.b == y.b &&
         x.add == y.add && x.metadata == y.metadata &&
         (x.fragment == nullptr) == (y.fragment == nullptr);
}

// Called once all threads of the warpgroup have arrived.
void start(const Warpgroup& threads) {
  Block& block = Block::current();
  const auto& product = *static_cast<const Wgmma*>(threads[0]);
  for (void* const thread : threads) {
    if (!same(*static_cast<const Wgmma*>(thread), product)) {
      fault("wgmma with different operands in one warpgroup");
    }
  }
  if (product.fragment == nullptr) {
    const WgmmaOperand a(product.a, product.a_format, product.across_a);
    a.require_published(block.shared(), kRows, "wgmma");
  }
  for (const std::uint64_t part : parts_of_b(product)) {
    const WgmmaOperand b(part, product.b_format, product.across_b);
    b.require_published(block.shared(), product.columns, "wgmma");
  }
  const unsigned first_warp = Block::thread().number / kWarpgroup * (kWarpgroup / kWarp);
  for (unsigned rank = 0; rank < kWarpgroup / kWarp; ++rank) {
    Lanes sums{};
    FragmentLanes fragments{};
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      const auto& own = *static_cast<const Wgmma*>(threads[rank * kWarp + lane]);
      sums[lane] = own.sums;
      fragments[lane] = own.fragment;
    }
    block.products(first_warp + rank).issue(product, sums, fragments, rank);
  }
}

void require_whole(const Lanes& lanes) {
  for (void* const lane : lanes) {
    if (lane == nullptr) fault("wgmma in a warp of fewer than 32 threads");
  }
}

WarpProducts& own_products() { return Block::current().products(Block::thread().warp); }

}  // namespace

void wgmma_fragment(const std::uint32_t* fragment) {
  own_products().write_fragment(Block::thread().number % kWarp, fragment);
}

void wgmma_fence(const Where& where) {
  char present = 0;
  const auto together = [](const Lanes& lanes) {
    require_whole(lanes);
    own_products().fence();
  };
  Block::current().with_warp(kWholeWarp, "wgmma.fence", &present, together, where);
}

void wgmma_multiply(const Wgmma& product, const Where& where) {
  Wgmma own = product;
  Block& block = Block::current();
  if (block.cluster().eager()) {
    own_products().read_now(product, Block::thread().warp % (kWarpgroup / kWarp), block.shared());
  }
  block.with_warpgroup("wgmma.mma_async", &own, start, where);
}

void wgmma_commit(const Where& where) {
  char present = 0;
  const auto together = [](const Lanes& lanes) {
    require_whole(lanes);
    own_products().commit();
  };
  Block::current().with_warp(kWholeWarp, "wgmma.commit_group", &present, together, where);
}

void wgmma_wait(int pending, const Where& where) {
  const auto together = [](const Lanes& lanes) {
    require_whole(lanes);
    const auto count = static_cast<std::size_t>(*static_cast<const int*>(lanes[0]));
    own_products().wait(count, Block::current().shared());
  };
  Block::current().with_warp(kWholeWarp, "wgmma.wait_group", &pending, together, where);
}

}  // namespace ridgebench::emulator
