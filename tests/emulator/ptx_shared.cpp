// Instructions that move data to and from shared memory: ldmatrix and cp.async.
#include <array>

#include "tests/emulator/block.hpp"
#include "tests/emulator/ptx.hpp"

namespace ridgepoint::emulator {
namespace {

constexpr unsigned kMatrixRows = 8;
constexpr std::size_t kRowBytes = 16;

struct MatrixRow {
  std::array<std::uint16_t, 8> number;
};

struct Load {
  const std::byte* row;
  unsigned matrices;
  bool transposed;
  std::array<std::uint32_t*, 4> words;
};

std::byte* aligned(std::byte* address, std::int64_t at, std::size_t bytes, const char* what) {
  if (static_cast<std::size_t>(at) % bytes != 0) {
    fault(std::string(what) + " at an address that is not a multiple of its size");
  }
  return address;
}

// Source: PTX ISA, "ldmatrix": lanes 8 i to 8 i + 7 hold the addresses of the rows of matrix i;
// each lane receives of every matrix row lane / 4, elements 2 (lane % 4) and the next.
void load_matrices(const Lanes& lanes) {
  std::array<std::array<MatrixRow, kMatrixRows>, 4> matrix{};
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (lanes[lane] == nullptr) fault("ldmatrix in a warp of fewer than 32 threads");
    const auto& own = *static_cast<const Load*>(lanes[lane]);
    if (lane >= kMatrixRows * own.matrices) continue;
    std::memcpy(&matrix[lane / kMatrixRows][lane % kMatrixRows], own.row, kRowBytes);
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const auto& own = *static_cast<const Load*>(lanes[lane]);
    for (unsigned i = 0; i < own.matrices; ++i) {
      const auto number = [&](unsigned which) -> std::uint32_t {
        const unsigned along = 2 * (lane % 4) + which;
        return own.transposed ? matrix[i][along].number[lane / 4]
                              : matrix[i][lane / 4].number[along];
      };
      *own.words[i] = number(0) | number(1) << 16U;
    }
  }
}

}  // namespace

bool execute_ldmatrix(const Instruction& instruction) {
  if (!instruction.has("sync") || !instruction.has("m8n8") || !instruction.has("b16")) return false;
  Load own{.row = nullptr, .matrices = 1, .transposed = instruction.has("trans"), .words = {}};
  if (instruction.has("x2")) own.matrices = 2;
  if (instruction.has("x4")) own.matrices = 4;
  if (instruction.count() != own.matrices + 1) return false;
  for (unsigned i = 0; i < own.matrices; ++i) own.words[i] = instruction.out<std::uint32_t>(i);
  const Block& block = Block::current();
  if (Block::thread().lane < kMatrixRows * own.matrices) {
    const auto address = instruction.get<std::uint32_t>(own.matrices);
    own.row = aligned(block.shared_pointer(address, kRowBytes), address, kRowBytes, "ldmatrix");
  }
  Block::current().with_warp(kWholeWarp, instruction.name(), &own, load_matrices,
                             instruction.where());
  return true;
}

// cp.async.cg.shared.global [to], [from], bytes {, bytes read}; with commit_group, wait_group n and
// wait_all.
bool execute_cp_async(const Instruction& instruction) {
  AsyncCopies& copies = Block::thread().copies;
  if (instruction.name() == "cp.async.commit_group") {
    copies.commit();
  } else if (instruction.name() == "cp.async.wait_group") {
    copies.wait(static_cast<std::size_t>(instruction.integer(0)));
  } else if (instruction.name() == "cp.async.wait_all") {
    copies.wait_all();
  } else if (instruction.has("shared") && instruction.has("global")) {
    const auto to = instruction.get<std::uint32_t>(0);
    const auto from = instruction.get<const std::byte*>(1);
    const auto bytes = static_cast<std::size_t>(instruction.integer(2));
    const auto read =
        instruction.count() > 3 ? static_cast<std::size_t>(instruction.integer(3)) : bytes;
    if (bytes != 16 && (instruction.has("cg") || (bytes != 4 && bytes != 8))) {
      fault("cp.async of a size that it does not have");
    }
    if (read > bytes) fault("cp.async reads more than it writes");
    if (reinterpret_cast<std::uintptr_t>(from) % bytes != 0)
      fault("cp.async from a misaligned address");
    copies.issue({.to = aligned(Block::current().shared_pointer(to, bytes), to, bytes, "cp.async"),
                  .from = from,
                  .bytes = bytes,
                  .from_bytes = read});
  } else {
    return false;
  }
  return true;
}

}  // namespace ridgepoint::emulator
