// Places tensors with lifetimes in one allocation, and counts what is live. A tensor occupies
// rounded_tensor_bytes() of plan/step_memory.hpp. The counts are made
// where the arena allocates, and not by whoever plans the step.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ridgebench {

// Bytes in use, by what they hold: "parameters", "activations", ...
using LiveBytes = std::map<std::string, std::int64_t>;

class Arena {
 public:
  // Returns the offset of a block of that many bytes, more than 0, in the first gap that holds it.
  std::int64_t allocate(std::int64_t bytes, const std::string& kind);
  // Frees the block at an offset. Throws std::logic_error if none begins there.
  void release(std::int64_t offset);

  [[nodiscard]] const LiveBytes& live() const { return live_; }
  [[nodiscard]] std::int64_t live_bytes() const { return live_bytes_; }
  // The most bytes that were live at once.
  [[nodiscard]] std::int64_t peak_bytes() const { return peak_bytes_; }
  // The end of the block that reached furthest: what the allocation needs, gaps included.
  [[nodiscard]] std::int64_t extent_bytes() const { return extent_bytes_; }

 private:
  // Takes bytes from the first gap that has them, or at the end, and returns their offset.
  std::int64_t take(std::int64_t bytes);
  void give_back(std::int64_t offset, std::int64_t bytes);

  struct Block {
    std::int64_t bytes;
    std::string kind;
  };
  // By offset. No gap touches another one, or the end.
  std::map<std::int64_t, Block> blocks_;
  std::map<std::int64_t, std::int64_t> gaps_;  // bytes
  std::int64_t end_ = 0;                       // of the last block
  LiveBytes live_;
  std::int64_t live_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::int64_t extent_bytes_ = 0;
};

}  // namespace ridgebench
