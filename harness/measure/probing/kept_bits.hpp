// Elements of an output that kept their bits though the inputs changed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/measure/verifying/tolerance.hpp"
#include "kernels/common/operation.hpp"

namespace ridgebench {

class KeptBits {
 public:
  // Rows of every output of a case, one view of each, of new inputs and of old ones.
  KeptBits(const Implementation& implementation, const Shape& shape,
           std::span<const Output> outputs, std::span<const std::int64_t> rows,
           std::span<const View> of_new, std::span<const View> of_old);

  // True if any element kept its bits.
  [[nodiscard]] bool any() const;

  // True if the kernel answers with old results: of the elements whose reference moved by more than
  // 4 units in the last place and than rounding explains, most kept their bits. The error that a
  // technique declares of a function explains nothing here. One may keep them by chance, because an
  // output that is within its tolerance may be some units off. The references have, for each row,
  // that of every output.
  [[nodiscard]] bool most_moved(std::span<const Expected> of_new,
                                std::span<const Expected> of_old) const;

  // For each output, true if more than a tenth of its elements moved by that rule. If it is false,
  // an answer to the old inputs would hardly be wrong for the new ones.
  [[nodiscard]] std::vector<bool> moved_outputs(std::span<const Expected> of_new,
                                                std::span<const Expected> of_old) const;

 private:
  struct RoundedOutput {
    Format format;
    Tolerance rounding;
  };
  // A row of an output, which follow each other as in the references.
  struct Part {
    std::size_t output;
    std::size_t first;
    std::size_t count;
  };
  std::vector<RoundedOutput> outputs_;
  std::vector<Part> parts_;
  std::vector<unsigned char> kept_;  // 1 or 0, by element
};

}  // namespace ridgebench
