#include "tests/emulator/ptx/products.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "tests/emulator/emulator.hpp"
#include "tests/emulator/hopper/wgmma_operand.hpp"
#include "tests/emulator/ptx/sums.hpp"

namespace ridgebench::emulator {
namespace {

constexpr unsigned kWarpRows = 16;  // of a warp

// Source: PTX ISA, "Register fragments and shared memory matrix layouts" of wgmma: with lane l,
// sum i is of row l / 4 + 8 (i / 2 % 2) of the warp's, column 8 (i / 4) + 2 (l % 4) + i % 2.
std::size_t place(unsigned lane, unsigned i, unsigned columns) {
  const unsigned row = lane / 4 + 8 * (i / 2 % 2);
  const unsigned column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
  return std::size_t{row} * columns + column;
}

// The bits of a lane's sums.
std::span<std::uint32_t> sums_of(const Accumulator& accumulator, unsigned lane) {
  return {static_cast<std::uint32_t*>(accumulator.sums[lane]), accumulator.columns / 2};
}

void hide(Accumulator& accumulator) {
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const std::span<std::uint32_t> sums = sums_of(accumulator, lane);
    for (unsigned i = 0; i < sums.size(); ++i) {
      accumulator.value[place(lane, i, accumulator.columns)] =
          sum_of_bits(sums[i], accumulator.format);
    }
    std::memset(sums.data(), 0xFF, sums.size_bytes());
  }
}

void show(const Accumulator& accumulator) {
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const std::span<std::uint32_t> sums = sums_of(accumulator, lane);
    const auto bytes = std::as_bytes(sums);
    if (std::ranges::any_of(bytes, [](std::byte b) { return b != std::byte{0xFF}; })) {
      fault("sums were written while wgmma products to them were under way");
    }
    for (unsigned i = 0; i < sums.size(); ++i) {
      sums[i] =
          bits_of_sum(accumulator.value[place(lane, i, accumulator.columns)], accumulator.format);
    }
  }
}

FragmentA words_of(const std::uint32_t* fragment) {
  FragmentA words;
  std::copy_n(fragment, words.size(), words.begin());
  return words;
}

// Element e of word i of lane l is element k = p (l % 4 + 4 (i / 2)) + e of row l / 4 + 8 (i % 2),
// with p elements to a word, the lowest bits first. The hardware ignores the low 13 bits of tf32.
// Source: PTX ISA, "Register fragments for wgmma.mma_async.m64nNk8" and its siblings.
std::vector<double> rows_of(std::span<const FragmentA> lanes, Format format) {
  const FormatInfo& f = info(format);
  const unsigned per_word = 4 / static_cast<unsigned>(f.storage_bytes);
  const unsigned depth = 8 * per_word;
  const auto element = [&](std::uint32_t word, unsigned e) -> double {
    if (format == Format::tf32) return std::bit_cast<float>(word & ~0x1fffU);
    const auto bits = static_cast<unsigned>(f.bits());
    return decode_bits(f, word >> (bits * e) & ((1U << bits) - 1U));
  };
  std::vector<double> a(std::size_t{depth} * kWarpRows);
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    for (unsigned i = 0; i < lanes[lane].size(); ++i) {
      const unsigned row = lane / 4 + 8 * (i % 2);
      for (unsigned e = 0; e < per_word; ++e) {
        const unsigned k = per_word * (lane % 4 + 4 * (i / 2)) + e;
        a[std::size_t{k} * kWarpRows + row] = element(lanes[lane][i], e);
      }
    }
  }
  return a;
}

// The lines of B that belong to the stored numbers of a sparse A. Source: PTX ISA, "Sparse matrix
// storage": two bits of metadata say where among four a number belongs. All numbers of the suite
// have the same two places, so that it does not matter which lanes give the metadata.
std::vector<double> chosen_lines(const Wgmma& product, const std::vector<double>& b) {
  const std::uint32_t places = product.metadata & 0xfU;
  const std::uint32_t first = places & 3U;
  const std::uint32_t second = places >> 2U;
  if (product.metadata != places * 0x11111111U) throw NotEmulated("metadata of several places");
  if (first >= second) fault("metadata whose places are not in order");
  std::vector<double> chosen;
  const std::size_t columns = product.columns;
  for (std::size_t group = 0; group < b.size() / columns; group += 4) {
    for (const std::size_t k : {group + first, group + second}) {
      const std::span<const double> line = std::span(b).subspan(k * columns, columns);
      chosen.insert(chosen.end(), line.begin(), line.end());
    }
  }
  return chosen;
}

Operands read_operands(const Wgmma& product, unsigned rank, const SharedMemory& shared) {
  Operands operands;
  for (const std::uint64_t part : parts_of_b(product)) {
    const WgmmaOperand b(part, product.b_format, product.across_b);
    const std::vector<double> lines = b.read(shared, 0, product.columns);
    operands.b.insert(operands.b.end(), lines.begin(), lines.end());
  }
  if (product.metadata != 0) operands.b = chosen_lines(product, operands.b);
  if (product.fragment == nullptr) {
    const WgmmaOperand a(product.a, product.a_format, product.across_a);
    operands.a = a.read(shared, rank * kWarpRows, kWarpRows);
  }
  return operands;
}

// Products and sums in double, rounded to the format of sums once per instruction.
void compute(const Wgmma& product, const Operands& operands, Accumulator& accumulator) {
  const unsigned columns = product.columns;
  const std::size_t depth = operands.a.size() / kWarpRows;
  std::vector<double> sum(columns);
  for (unsigned row = 0; row < kWarpRows; ++row) {
    const std::span<double> value =
        std::span(accumulator.value).subspan(std::size_t{row} * columns, columns);
    if (product.add) {
      std::ranges::copy(value, sum.begin());
    } else {
      std::ranges::fill(sum, 0.0);
    }
    for (std::size_t k = 0; k < depth; ++k) {
      const double factor = operands.a[k * kWarpRows + row];
      const double* const line = &operands.b[k * columns];
      for (unsigned column = 0; column < columns; ++column) sum[column] += factor * line[column];
    }
    std::ranges::transform(sum, value.begin(), [&](double x) {
      return sum_of_bits(bits_of_sum(x, accumulator.format), accumulator.format);
    });
  }
}

}  // namespace

std::vector<std::uint64_t> parts_of_b(const Wgmma& product) {
  if (product.metadata == 0) return {product.b};
  constexpr std::uint64_t next = 32 >> 4U;  // addresses count 16 bytes
  return {product.b, product.b + next};
}

std::shared_ptr<Accumulator> WarpProducts::accumulator(const Wgmma& product, const Lanes& sums) {
  for (const auto& known : accumulators_) {
    if (known->sums[0] != sums[0]) continue;
    if (known->columns != product.columns) {
      fault("wgmma products of different sizes to the same sums");
    }
    return known;
  }
  auto fresh = std::make_shared<Accumulator>(
      Accumulator{.sums = sums,
                  .columns = product.columns,
                  .format = sum_format(product.a_format),
                  .value = std::vector<double>(std::size_t{kWarpRows} * product.columns)});
  hide(*fresh);
  accumulators_.push_back(fresh);
  return fresh;
}

void WarpProducts::read_now(const Wgmma& product, unsigned rank_in_warpgroup,
                            const SharedMemory& shared) {
  if (!next_operands_) next_operands_ = read_operands(product, rank_in_warpgroup, shared);
}

void WarpProducts::fence() {
  fenced_ = true;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    for (const auto& [fragment, words] : written_[lane]) ordered_[lane][fragment] = words;
    written_[lane].clear();
  }
}

void WarpProducts::write_fragment(unsigned lane, const std::uint32_t* fragment) {
  written_[lane][fragment] = words_of(fragment);
}

FragmentA WarpProducts::fenced(unsigned lane, const std::uint32_t* fragment) const {
  const auto found = ordered_[lane].find(fragment);
  const FragmentA words = words_of(fragment);
  if (found == ordered_[lane].end() || found->second != words) {
    fault("wgmma of registers that were written without wgmma.fence after it");
  }
  return words;
}

void WarpProducts::issue(const Wgmma& product, const Lanes& sums, const FragmentLanes& fragments,
                         unsigned rank_in_warpgroup) {
  if (!fenced_) fault("the first wgmma of a group without wgmma.fence before it");
  Started started{.product = product,
                  .rank_in_warpgroup = rank_in_warpgroup,
                  .accumulator = accumulator(product, sums),
                  .operands = std::exchange(next_operands_, std::nullopt),
                  .fragments = fragments,
                  .words = {}};
  for (unsigned lane = 0; product.fragment != nullptr && lane < kWarp; ++lane) {
    started.words[lane] = fenced(lane, fragments[lane]);
  }
  ++started.accumulator->under_way;
  open_.push_back(std::move(started));
}

void WarpProducts::commit() {
  groups_.push_back(std::exchange(open_, {}));
  fenced_ = false;
}

void WarpProducts::end(const Started& started, const SharedMemory& shared) {
  Accumulator& accumulator = *started.accumulator;
  const bool in_registers = started.product.fragment != nullptr;
  for (unsigned lane = 0; in_registers && lane < kWarp; ++lane) {
    if (words_of(started.fragments[lane]) != started.words[lane]) {
      fault("registers of A were written while wgmma products of them were under way");
    }
  }
  Operands operands = started.operands
                          ? *started.operands
                          : read_operands(started.product, started.rank_in_warpgroup, shared);
  if (in_registers) operands.a = rows_of(started.words, started.product.a_format);
  compute(started.product, operands, accumulator);
  if (--accumulator.under_way > 0) return;
  show(accumulator);
  std::erase(accumulators_, started.accumulator);
}

void WarpProducts::wait(std::size_t pending, const SharedMemory& shared) {
  while (groups_.size() > pending) {
    for (const Started& started : groups_.front()) end(started, shared);
    groups_.erase(groups_.begin());
  }
}

}  // namespace ridgebench::emulator
