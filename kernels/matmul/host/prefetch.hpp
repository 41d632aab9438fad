// Software prefetch of the memory that the macro-kernel needs next: the micro-kernel issues the
// prefetches between its multiply-adds, so that the next pack or product does not wait for memory.
//
// Include it inside a region of target_begin.hpp, after streaming.hpp.
#pragma once

#ifndef RIDGEBENCH_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

namespace ridgebench::cpu {
namespace {

// The cache lines of a part of a matrix: `rows` of `bytes`, `stride` bytes apart.
class PrefetchLines {
 public:
  PrefetchLines() = default;
  PrefetchLines(const void* data, std::int64_t rows, std::int64_t bytes, std::int64_t stride)
      : line_(static_cast<const char*>(data)),
        in_row_(ceil_div(bytes, kStep)),
        gap_(stride - in_row_ * kStep),
        left_in_row_(in_row_),
        left_(rows * in_row_) {}

  // The same lines, for a thread that will write them.
  [[nodiscard]] PrefetchLines for_writing() const {
    PrefetchLines lines = *this;
    lines.written_ = true;
    return lines;
  }

  [[nodiscard]] std::int64_t left() const { return left_; }
  // Sets how many prefetches the next calls may issue.
  void allow(std::int64_t count) { allowed_ = count; }

  // Prefetches the next line, if one more is allowed. It may run past the last line, to addresses
  // outside the matrix: a prefetch cannot fault.
  [[gnu::always_inline]] void prefetch_next() {
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

// Up to four such parts, prefetched one after the other in even shares.
class Prefetcher {
 public:
  void add(const PrefetchLines& part) {
    parts_[static_cast<std::size_t>(count_++)] = part;
    lines_ += part.left();
  }
  // Divides all lines among `shares` calls of the micro-kernel.
  void divide(std::int64_t shares) { share_ = ceil_div(lines_, shares); }
  // The next share. Lines that the micro-kernel leaves belong to the following share.
  PrefetchLines& next() {
    while (at_ + 1 < count_ && parts_[static_cast<std::size_t>(at_)].left() <= 0) ++at_;
    PrefetchLines& part = parts_[static_cast<std::size_t>(at_)];
    part.allow(share_);
    return part;
  }

 private:
  std::array<PrefetchLines, 4> parts_;
  std::int64_t count_ = 0;
  std::int64_t at_ = 0;
  std::int64_t lines_ = 0;
  std::int64_t share_ = 0;
};

}  // namespace
}  // namespace ridgebench::cpu
