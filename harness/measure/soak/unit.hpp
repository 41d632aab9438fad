// A kernel of a soak. Its first launch is verified against the reference, its outputs are kept, and
// every later launch must leave the same bits. The device itself compares them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/bound_case.hpp"

namespace ridgebench {

// Wrong bits of one output after a launch.
struct WrongOutput {
  std::string operand;
  const void* data;  // where the output begins
  WrongBits wrong;
  // The wrong words of each multiprocessor that has any; empty where the kernel does not record who
  // computes what.
  std::map<std::int64_t, std::int64_t> units;
};

// Finds the outputs of multiprocessors that differ from those of the majority: each of `rows` rows
// has what one of them made of the same inputs. Writes the majority's row over them. Does nothing
// for fewer than three rows, because two cannot vote, or without a majority.
WrongBits vote(std::vector<std::byte>& output, std::int64_t rows);

class SoakUnit {
 public:
  // Prepares and binds the case. `check` outlives this. Throws OutOfMemory, and Unsupported.
  SoakUnit(const Case& c, Fill fill, std::uint64_t seed, OutputCheck& check);
  SoakUnit(const SoakUnit&) = delete;  // bound_ points into it
  SoakUnit& operator=(const SoakUnit&) = delete;
  ~SoakUnit() = default;

  [[nodiscard]] const Case& row() const { return case_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] std::optional<std::string> choice() const { return bound_.front().choice(); }
  // Bytes of all outputs.
  [[nodiscard]] double compared_bytes() const;

  // Launches, verifies the outputs and keeps them. Returns why they are wrong. `found` gets the
  // multiprocessors that the others outvote.
  std::optional<std::string> keep_verified(std::vector<WrongOutput>& found);

  // Fills the outputs with NaN, launches once and waits. Returns the seconds of the launch.
  double launch();
  // The difference from the outputs that were kept; empty if there is none.
  [[nodiscard]] std::vector<WrongOutput> compare();

 private:
  // Keeps what the last launch left.
  void keep(std::vector<WrongOutput>& found);
  [[nodiscard]] bool by_unit() const;
  // `found` has the bytes of the output, and `right` the right ones, in host memory.
  [[nodiscard]] WrongOutput wrong_output(std::size_t output, WrongBits wrong,
                                         std::span<const std::byte> found,
                                         std::span<const std::byte> right) const;

  Case case_;
  Problem problem_;
  std::string id_;
  Buffers buffers_;
  std::vector<BoundCase> bound_;  // one
  std::vector<DeviceMemory::Region> outputs_;
  std::vector<DeviceMemory::Region> gaps_;  // between their rows
  std::shared_ptr<void> kept_;
  std::vector<DeviceMemory::Region> kept_outputs_;
};

}  // namespace ridgebench
