#include "harness/measure/probing/new_inputs.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/device/own_work.hpp"
#include "harness/measure/verifying/reference.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kBlocksOfAnInput = 256;
constexpr std::int64_t kSmallestBlock = 64;
// Most bytes of old inputs that a probe on a host keeps. The host draws 1 to 2 GB/s, and copies
// many times as much; a GPU draws faster than it copies to the host.
constexpr double kMostSavedBytes = 0x1p26;
// Bytes of an output that the host holds while it writes them again.
constexpr std::size_t kRewrittenAtOnce = std::size_t{1} << 20U;
// First of the streams of new inputs, one of each position, and that of the block.
constexpr std::uint32_t kNewStreams = 0xC0000000;
constexpr std::uint32_t kBlockStream = 0xFFFFFFFD;

}  // namespace

NewInputs::NewInputs(Device& device, Buffers& buffers, const Problem& problem,
                     std::span<const BufferSet> sets, Sets chosen, Novelty novelty,
                     std::uint64_t seed, std::vector<HostBuffer>& saved)
    : device_(&device),
      buffers_(&buffers),
      problem_(&problem),
      operands_(problem.operands),
      all_(sets),
      chosen_(chosen),
      seed_(seed),
      saved_(&saved) {
  const bool zeros = buffers.fill() == Fill::zeros;
  if (novelty == Novelty::sparse || zeros) block_ = draw_block(operands_, seed);
}

NewInputs::~NewInputs() {
  if (written_) buffers_->refill_inputs();
}

std::optional<NewInputs::Block> NewInputs::draw_block(std::span<const Operand> operands,
                                                      std::uint64_t seed) {
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].is_input()) inputs.push_back(i);
  }
  if (inputs.empty()) return std::nullopt;
  const PhiloxBlock random = random_block(seed, kBlockStream, 0);
  const std::size_t operand = inputs[random.word[0] % inputs.size()];
  const std::int64_t all = operands[operand].elements;
  const std::int64_t elements = std::min(all, std::max(kSmallestBlock, all / kBlocksOfAnInput));
  const std::int64_t places = (all - elements) / kElementsPerBlock + 1;
  return Block{operand, std::int64_t{random.word[1]} % places * kElementsPerBlock, elements};
}

std::string NewInputs::text() const {
  if (fresh()) return "every input";
  return fmt::format("{} of {} elements of {}", block_->elements,
                     operands_[block_->operand].elements, operands_[block_->operand].name);
}

std::vector<std::int64_t> NewInputs::rows_to_compare(double affordable) const {
  RowRange among{0, problem_->rows};
  const std::int64_t by_row = block_ ? operands_[block_->operand].by_row : 0;
  if (by_row > 0) {
    among.first = block_->first / by_row;
    among.count = (block_->first + block_->elements - 1) / by_row + 1 - among.first;
  }
  return rows_to_check(*problem_, among, seed_, affordable);
}

RandomStream NewInputs::new_values(std::size_t set, std::size_t position) const {
  const Fill fill = buffers_->fill() == Fill::zeros ? Fill::normal : buffers_->fill();
  RandomStream from = own_values(operands_[position], position, set, fill, seed_);
  from.stream = static_cast<std::uint32_t>(kNewStreams + position);
  return from;
}

void* NewInputs::block_data(void* operand) const {
  const int size = info(operands_[block_->operand].format).storage_bytes;
  return static_cast<std::byte*>(operand) + block_->first * size;
}

bool NewInputs::changes(std::size_t position) const {
  return operands_[position].is_input() && (fresh() || block_->operand == position);
}

std::int64_t NewInputs::new_elements(std::size_t position) const {
  return fresh() ? operands_[position].elements : block_->elements;
}

void NewInputs::for_each_replaced(auto use) const {
  if (!fresh()) return;
  for (std::size_t set = chosen_.first; set < chosen_.first + chosen_.count; ++set) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].access == Access::read) use(set, i);
    }
  }
}

void NewInputs::save() {
  double bytes = 0;
  for_each_replaced([&](std::size_t, std::size_t i) { bytes += operands_[i].bytes(); });
  if (device_->backend() != Backend::cpu || bytes > kMostSavedBytes) return;
  for_each_replaced([&](std::size_t set, std::size_t i) {
    const DeviceMemory::Region region = region_of(operands_[i], all_[set][i]);
    if (saved_count_ == saved_->size()) saved_->emplace_back();
    std::ranges::copy(region, (*saved_)[saved_count_++].resize(region.size()));
  });
}

std::vector<DeviceMemory::Region> NewInputs::outputs() const {
  std::vector<DeviceMemory::Region> regions;
  for (const BufferSet& set : all_.subspan(chosen_.first, chosen_.count)) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].access != Access::written) continue;
      regions.push_back(region_of(operands_[i], set[i]));
    }
  }
  return regions;
}

std::vector<DeviceMemory::Region> NewInputs::gaps() const {
  std::vector<DeviceMemory::Region> regions;
  for (const BufferSet& set : all_.subspan(chosen_.first, chosen_.count)) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].access != Access::written) continue;
      std::ranges::copy(gaps_of(operands_[i], set[i]), std::back_inserter(regions));
    }
  }
  return regions;
}

void NewInputs::write() {
  write_inputs();
  Buffers::poison(device_->memory(), outputs());
  Buffers::guard_gaps(device_->memory(), gaps());
}

void NewInputs::write_inputs() {
  if (!written_) save();
  written_ = true;
  DeviceMemory& memory = device_->memory();
  for (std::size_t set = chosen_.first; set < chosen_.first + chosen_.count; ++set) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Operand& operand = operands_[i];
      void* const data = all_[set][i];
      if (operand.access == Access::updated && !(fresh() && changes(i))) {
        memory.fill(data, operand.elements, operand.format, buffers_->values(set, i));
      }
      if (!changes(i)) continue;
      memory.fill(fresh() ? data : block_data(data), new_elements(i), operand.format,
                  new_values(set, i));
    }
  }
}

void NewInputs::rewrite_outputs() {
  DeviceMemory& memory = device_->memory();
  HostBuffer scratch;
  std::vector<std::byte> copy;
  for (const DeviceMemory::Region& region : outputs()) {
    for (std::size_t first = 0; first < region.size(); first += kRewrittenAtOnce) {
      const auto part = region.subspan(first, std::min(kRewrittenAtOnce, region.size() - first));
      const std::byte* const held = memory.on_host({&part, 1}, scratch);
      copy.assign(held, held + part.size());  // they may lie in place
      memory.write(part.data(), copy);
    }
  }
}

void NewInputs::restore() {
  std::size_t saved = 0;
  for (std::size_t set = chosen_.first; set < chosen_.first + chosen_.count; ++set) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Operand& operand = operands_[i];
      if (saved < saved_count_ && operand.access == Access::read) {
        device_->memory().write(
            all_[set][i], {(*saved_)[saved++].data(), static_cast<std::size_t>(operand.bytes())});
      } else if (operand.access == Access::updated || (fresh() && changes(i))) {
        device_->memory().fill(all_[set][i], operand.elements, operand.format,
                               buffers_->values(set, i));
      } else if (changes(i)) {
        RandomStream from = buffers_->values(set, i);
        from.first += block_->first;
        device_->memory().fill(block_data(all_[set][i]), block_->elements, operand.format, from);
      }
    }
  }
  written_ = false;
  saved_count_ = 0;
}

std::vector<View> NewInputs::old_views(std::size_t set, std::vector<HostBuffer>& copies) const {
  return inputs_before_launch(device_->memory(), operands_, all_[set], set, buffers_->fill(),
                              buffers_->seed(), copies);
}

void NewInputs::write_on_host(std::size_t set, std::size_t position,
                              std::span<const ElementRange> ranges, const void* old,
                              std::byte* copy) const {
  const Format format = operands_[position].format;
  const std::int64_t size = info(format).storage_bytes;
  const RandomStream all = new_values(set, position);
  const bool many = ranges.size() > 1;
#pragma omp parallel for schedule(dynamic) if (many)
  for (const ElementRange& range : ranges) {
    std::byte* const out = copy + range.first * size;
    if (fresh()) {
      RandomStream from = all;
      from.first += range.first;
      fill_random(out, range.size(), format, from, many ? 1 : omp_get_max_threads());
    } else if (old != copy) {
      std::copy_n(static_cast<const std::byte*>(old) + range.first * size, range.size() * size,
                  out);
    }
  }
  if (!fresh()) {
    fill_random(block_data(copy), block_->elements, format, all, omp_get_max_threads());
  }
}

std::vector<View> NewInputs::new_views(std::size_t set, std::span<const std::int64_t> rows,
                                       std::vector<HostBuffer>& copies) const {
  const OwnWork own;
  std::vector<View> views = old_views(set, copies);
  std::size_t input = 0;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    if (!operand.is_input()) continue;
    View& view = views[input++];
    if (!changes(i)) continue;
    std::byte* const copy = copies[i].resize(static_cast<std::size_t>(operand.bytes()));
    write_on_host(set, i, elements_read(operand, rows), view.data, copy);
    view.data = copy;
  }
  return views;
}

}  // namespace ridgebench
