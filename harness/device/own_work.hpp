// Marks what the program does itself: it fills buffers, computes references and compares outputs.
// The watchdog does not count this time, because no kernel runs in it, and begins its limit anew,
// because the launch before has returned.
#pragma once

#include <atomic>
#include <cstdint>

namespace ridgebench {

class OwnWork {
 public:
  OwnWork() {
    note_return();
    ++count();
  }
  OwnWork(const OwnWork&) = delete;  // counted once
  OwnWork& operator=(const OwnWork&) = delete;
  ~OwnWork() { --count(); }

  // True if any thread is at such work.
  [[nodiscard]] static bool goes_on() { return count() > 0; }

  // Notes that a launch or a batch has returned. Own work notes it when it begins.
  static void note_return() { ++noted(); }
  // How often that was.
  [[nodiscard]] static std::uint64_t returns() { return noted(); }

 private:
  static std::atomic<int>& count() {
    static std::atomic<int> count{0};
    return count;
  }
  static std::atomic<std::uint64_t>& noted() {
    static std::atomic<std::uint64_t> noted{0};
    return noted;
  }
};

}  // namespace ridgebench
