// Inputs that a kernel has not met, in place of those that some buffer sets of its case hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/buffers.hpp"
#include "harness/measure/problem.hpp"
#include "harness/measure/verifying/inputs.hpp"

namespace ridgebench {

// fresh: every input is new. sparse: one contiguous block of one input is new, 1/256 of it or 64
// elements, whichever is more.
enum class Novelty : std::uint8_t { fresh, sparse };

class NewInputs {
 public:
  struct Sets {  // consecutive ones
    std::size_t first;
    std::size_t count;
  };

  // `sets` are all sets of the problem, the last that `buffers` allocated. The seed draws the
  // values and the block. They follow the fill of the run, but are normal numbers if that is zeros,
  // which then are sparse. A problem without inputs has no new ones, and must outlive this.
  // `saved` holds copies of the old inputs until they are restored. It outlives this, so that later
  // probes take no new memory: a kernel that allocates its temporary arrays would wait for pages.
  NewInputs(Device& device, Buffers& buffers, const Problem& problem,
            std::span<const BufferSet> sets, Sets chosen, Novelty novelty, std::uint64_t seed,
            std::vector<HostBuffer>& saved);
  NewInputs(const NewInputs&) = delete;  // restores the buffers once
  NewInputs& operator=(const NewInputs&) = delete;
  // Inputs that were not restored are filled again before the next case.
  ~NewInputs();

  [[nodiscard]] Sets sets() const { return chosen_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] bool fresh() const { return !block_; }
  // The changed inputs: "every input", or "a block of x".
  [[nodiscard]] std::string text() const;

  // Writes the new inputs, restores operands that launches updated, and fills outputs with NaN.
  void write();
  // Does the same for all but the outputs.
  void write_inputs();
  // Writes the old inputs. The outputs stay.
  void restore();
  // Writes what the outputs hold once more, as write() writes NaN: a launch finds the same values.
  void rewrite_outputs();

  // The rows of the outputs to compare, whose comparison costs up to `affordable`: if the operand
  // of a block states which rows read it, only these. Others keep their values.
  [[nodiscard]] std::vector<std::int64_t> rows_to_compare(double affordable) const;

  // The operands that a launch on a set reads, new and old, in host memory. They lie in `copies`,
  // or in place where the host can read them. The old ones are those that the set holds now. Of the
  // new ones that changed, only the elements that `rows` of the outputs read are defined.
  std::vector<View> new_views(std::size_t set, std::span<const std::int64_t> rows,
                              std::vector<HostBuffer>& copies) const;
  std::vector<View> old_views(std::size_t set, std::vector<HostBuffer>& copies) const;

 private:
  struct Block {
    std::size_t operand;
    std::int64_t first;
    std::int64_t elements;
  };

  [[nodiscard]] static std::optional<Block> draw_block(std::span<const Operand> operands,
                                                       std::uint64_t seed);
  [[nodiscard]] RandomStream new_values(std::size_t set, std::size_t position) const;
  [[nodiscard]] void* block_data(void* operand) const;
  [[nodiscard]] bool changes(std::size_t position) const;
  // Returns the outputs that launches on the chosen sets write and do not update.
  [[nodiscard]] std::vector<DeviceMemory::Region> outputs() const;
  // The elements between the rows of these outputs.
  [[nodiscard]] std::vector<DeviceMemory::Region> gaps() const;
  // Calls use(set, position) for each input that changes as a whole, and that launches only read.
  void for_each_replaced(auto use) const;
  // Copies these inputs, if copying them back is faster than drawing them again.
  void save();
  // The new elements of an input that changes.
  [[nodiscard]] std::int64_t new_elements(std::size_t position) const;
  // Writes the new elements of an input that changes, in these ranges, to `copy`. `old` has the old
  // elements, and may be `copy`.
  void write_on_host(std::size_t set, std::size_t position, std::span<const ElementRange> ranges,
                     const void* old, std::byte* copy) const;

  Device* device_;
  Buffers* buffers_;
  const Problem* problem_;
  std::span<const Operand> operands_;
  std::span<const BufferSet> all_;
  Sets chosen_;
  std::uint64_t seed_;
  std::optional<Block> block_;
  std::vector<HostBuffer>* saved_;  // in the order of for_each_replaced()
  std::size_t saved_count_ = 0;
  bool written_ = false;
};

}  // namespace ridgebench
