// Cache lines that will be needed soon, for a kernel to ask for while it computes: what comes next
// then costs no waiting.
//
// To be included inside a region of target_begin.hpp, after streaming.hpp; see there.
#pragma once

#ifndef RIDGEBENCH_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

namespace ridgebench::cpu {
namespace {

constexpr std::int64_t ceil_div(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }

// The lines of a part of a matrix, in memory `rows` of `bytes`, `stride` bytes apart.
class LinesAhead {
 public:
  LinesAhead() = default;
  LinesAhead(const void* data, std::int64_t rows, std::int64_t bytes, std::int64_t stride)
      : line_(static_cast<const char*>(data)),
        in_row_(ceil_div(bytes, kStep)),
        gap_(stride - in_row_ * kStep),
        left_in_row_(in_row_),
        left_(rows * in_row_) {}

  // The same, for a thread that will write them.
  [[nodiscard]] LinesAhead to_write() const {
    LinesAhead lines = *this;
    lines.written_ = true;
    return lines;
  }

  [[nodiscard]] std::int64_t left() const { return left_; }
  // So many may be asked for from now on.
  void allow(std::int64_t count) { allowed_ = count; }

  // Asks the caches for the next line, if one more is allowed; beyond the last too, which may be no
  // memory of ours.
  [[gnu::always_inline]] void ask() {
    if (allowed_ <= 0) return;
    --allowed_;
    --left_;
    if (written_) {
      __builtin_prefetch(line_, 1, 3);
    } else {
      __builtin_prefetch(line_, 0, 2);
    }
    line_ += kStep;
    if (--left_in_row_ == 0) {
      left_in_row_ = in_row_;
      line_ += gap_;
    }
  }

 private:
  static constexpr auto kStep = static_cast<std::int64_t>(kLineBytes);

  const char* line_ = nullptr;
  std::int64_t in_row_ = 1;  // lines
  std::int64_t gap_ = 0;     // bytes
  std::int64_t left_in_row_ = 1;
  std::int64_t left_ = 0;
  std::int64_t allowed_ = 0;
  bool written_ = false;
};

// Up to four such parts, to be asked for one after the other in even shares.
class PartsAhead {
 public:
  void add(const LinesAhead& part) {
    parts_[static_cast<std::size_t>(count_++)] = part;
    lines_ += part.left();
  }
  // Sets the size of a share, for so many.
  void divide(std::int64_t shares) { share_ = ceil_div(lines_, shares); }
  // A share; what it leaves is for the next.
  LinesAhead& next() {
    while (at_ + 1 < count_ && parts_[static_cast<std::size_t>(at_)].left() <= 0) ++at_;
    LinesAhead& part = parts_[static_cast<std::size_t>(at_)];
    part.allow(share_);
    return part;
  }

 private:
  std::array<LinesAhead, 4> parts_;
  std::int64_t count_ = 0;
  std::int64_t at_ = 0;
  std::int64_t lines_ = 0;
  std::int64_t share_ = 0;
};

}  // namespace
}  // namespace ridgebench::cpu
