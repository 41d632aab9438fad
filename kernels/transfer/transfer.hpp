// Copies of n numbers between the memory of a host and that of a GPU: to the device, to the host,
// and both at once; and from a GPU to another one, its peer. fp32; bytes are counted once for each
// direction. A copy to the host or to a peer is verified by up to kTaken of its numbers, which are
// taken away again, so that each launch brings them anew.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/registry.hpp"

namespace ridgebench {

inline constexpr std::int64_t kTaken = 256;

// How many of n numbers are taken, and which one is number i of them.
constexpr std::int64_t taken_of(std::int64_t n) { return n < kTaken ? n : kTaken; }
constexpr std::int64_t taken_at(std::int64_t i, std::int64_t n) { return i * n / taken_of(n); }

namespace transfer_detail {

inline constexpr std::int64_t kRowLength = 256;
// So long a copy hides its start and the taking: half a millisecond at 450 GB/s.
inline constexpr std::int64_t kPeerCopyBytes = 256 << 20;

inline Operation transfer(const std::string& name, int directions) {
  Operation op;
  op.name = name;
  op.dimensions = {"n"};
  op.formats = {Format::fp32};
  op.flops = [](const Shape&) { return 0.0; };
  op.row_length = [](const Shape&) { return kRowLength; };
  op.reduction = [](const Shape&) { return 1.0; };
  // Hosts have no link. From a page to where the start of a copy no longer shows.
  op.shapes = [](Profile profile, Pace, const Machine& machine) -> std::vector<Shape> {
    if (machine.compute_capability == 0 || !at_least_standard(profile)) return {};
    std::vector<Shape> shapes;
    for (const std::int64_t bytes : {256 << 20, 1 << 20, 16 << 20, 64 << 10, 4 << 10}) {
      if (profile == Profile::standard && shapes.size() == 2) break;
      shapes.push_back(Shape({{"n", bytes / static_cast<std::int64_t>(sizeof(float))}}));
    }
    return shapes;
  };
  op.ceiling = Ceiling{Resource::link};
  op.traffic = [=](const Shape& s, FormatPair) {
    return static_cast<double>(directions * static_cast<std::int64_t>(sizeof(float)) * s["n"]);
  };
  return op;
}

inline Operation to_device() {
  Operation op = transfer("copy_to_device", 1);
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"y", s["n"], f.a, Access::written}};
  };
  op.reference = [](const Shape&, std::int64_t row, std::span<const View> in,
                    std::span<Expected> out) {
    std::int64_t i = row * kRowLength;
    for (Expected& y : out) y = {in[0][i++], 0};
  };
  return op;
}

// `taken` has the numbers of each direction, one direction after the other.
inline Operation checked_by_taking(const std::string& name, int directions) {
  Operation op = transfer(name, directions);
  op.operands = [=](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"taken", directions * taken_of(s["n"]), f.a, Access::written}};
  };
  op.reference = [](const Shape& s, std::int64_t row, std::span<const View> in,
                    std::span<Expected> out) {
    std::int64_t i = row * kRowLength;
    for (Expected& y : out) y = {in[0][taken_at(i++ % taken_of(s["n"]), s["n"])], 0};
  };
  return op;
}

// To cuda:`peer`. A GPU that has no peer has one case, which is skipped for that reason.
inline Operation to_peer() {
  Operation op = checked_by_taking("copy_to_peer", 1);
  op.attributes = {{"peer", 1}};
  op.shapes = [](Profile profile, Pace, const Machine& machine) {
    std::vector<Shape> shapes;
    if (machine.compute_capability == 0 || !at_least_standard(profile)) return shapes;
    const Shape size({{"n", kPeerCopyBytes / static_cast<std::int64_t>(sizeof(float))}});
    for (const int peer : machine.peers) {
      shapes.push_back(size.with({{"peer", static_cast<double>(peer)}}));
    }
    if (shapes.empty()) shapes.push_back(size);
    return shapes;
  };
  return op;
}

}  // namespace transfer_detail

// For Technique::supports: why a GPU cannot copy to the peer of a shape.
inline std::optional<std::string> peer_limit(const Machine& machine, const Shape& shape) {
  if (machine.peers.empty()) return "the process sees one GPU";
  const auto is_peer = [&](int number) { return number == shape.attribute("peer"); };
  if (std::ranges::any_of(machine.peers, is_peer)) return std::nullopt;
  std::string allowed;
  for (const int number : machine.peers) {
    allowed += (allowed.empty() ? "" : ", ") + std::to_string(number);
  }
  return "the process sees no such peer; allowed: " + allowed;
}

inline const RegisterOperation copy_to_device{transfer_detail::to_device()};
inline const RegisterOperation copy_to_host{transfer_detail::checked_by_taking("copy_to_host", 1)};
inline const RegisterOperation copy_both_ways{
    transfer_detail::checked_by_taking("copy_both_ways", 2)};
inline const RegisterOperation copy_to_peer{transfer_detail::to_peer()};

}  // namespace ridgebench
