// Instructions that move data to and from shared memory: ldmatrix, stmatrix, cp.async, ld and st.
#include <array>

#include "tests/emulator/core/block.hpp"
#include "tests/emulator/hopper/cluster_address.hpp"
#include "tests/emulator/ptx/ptx.hpp"

namespace ridgebench::emulator {
namespace {

constexpr unsigned kMatrixRows = 8;
constexpr std::size_t kRowBytes = 16;

struct MatrixRow {
  std::array<std::uint16_t, 8> number;
};

// A lane's part in ldmatrix or stmatrix.
struct Rows {
  std::byte* row;
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

// Source: PTX ISA, "ldmatrix": lanes 8 i to 8 i + 7 hold the addresses of the rows of matrix i.
// Each lane receives elements 2 (lane % 4) and the next of row lane / 4 of every matrix.
void load_matrices(const Lanes& lanes) {
  std::array<std::array<MatrixRow, kMatrixRows>, 4> matrix{};
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (lanes[lane] == nullptr) fault("ldmatrix in a warp of fewer than 32 threads");
    const auto& own = *static_cast<const Rows*>(lanes[lane]);
    if (lane >= kMatrixRows * own.matrices) continue;
    std::memcpy(&matrix[lane / kMatrixRows][lane % kMatrixRows], own.row, kRowBytes);
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const auto& own = *static_cast<const Rows*>(lanes[lane]);
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

// Source: PTX ISA, "stmatrix": the inverse.
void store_matrices(const Lanes& lanes) {
  std::array<std::array<MatrixRow, kMatrixRows>, 4> matrix{};
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (lanes[lane] == nullptr) fault("stmatrix in a warp of fewer than 32 threads");
    const auto& own = *static_cast<const Rows*>(lanes[lane]);
    for (unsigned i = 0; i < own.matrices; ++i) {
      for (unsigned which = 0; which < 2; ++which) {
        const unsigned along = 2 * (lane % 4) + which;
        auto& row = matrix[i][own.transposed ? along : lane / 4];
        row.number[own.transposed ? lane / 4 : along] =
            static_cast<std::uint16_t>(*own.words[i] >> (16 * which));
      }
    }
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const auto& own = *static_cast<const Rows*>(lanes[lane]);
    if (lane >= kMatrixRows * own.matrices) continue;
    std::memcpy(own.row, &matrix[lane / kMatrixRows][lane % kMatrixRows], kRowBytes);
    Block::current().shared().async_proxy().thread_wrote(Block::thread().warp * kWarp + lane,
                                                         own.row, kRowBytes);
  }
}

}  // namespace

// ldmatrix {words}, [row]; stmatrix [row], {words}.
bool execute_matrices(const Instruction& instruction) {
  if (!instruction.has("sync") || !instruction.has("m8n8") || !instruction.has("b16")) return false;
  const bool stores = instruction.part(0) == "stmatrix";
  Rows own{.row = nullptr, .matrices = 1, .transposed = instruction.has("trans"), .words = {}};
  if (instruction.has("x2")) own.matrices = 2;
  if (instruction.has("x4")) own.matrices = 4;
  if (instruction.count() != own.matrices + 1) return false;
  for (unsigned i = 0; i < own.matrices; ++i) {
    own.words[i] = instruction.out<std::uint32_t>(stores ? i + 1 : i);
  }
  Block& block = Block::current();
  if (Block::thread().lane < kMatrixRows * own.matrices) {
    const auto address = instruction.get<std::uint32_t>(stores ? 0 : own.matrices);
    own.row = aligned(block.shared().pointer(address, kRowBytes), address, kRowBytes,
                      stores ? "stmatrix" : "ldmatrix");
  }
  block.with_warp(kWholeWarp, instruction.name(), &own, stores ? store_matrices : load_matrices,
                  instruction.where());
  return true;
}

namespace {

// cp.async.cg.shared.global [to], [from], bytes {, bytes read}
void copy(const Instruction& instruction) {
  const auto to = instruction.get<std::uint32_t>(0);
  const auto from = instruction.get<const std::byte*>(1);
  const auto bytes = static_cast<std::size_t>(instruction.integer(2));
  const auto read =
      instruction.count() > 3 ? static_cast<std::size_t>(instruction.integer(3)) : bytes;
  if (bytes != 16 && (instruction.has("cg") || (bytes != 4 && bytes != 8))) {
    fault("cp.async of a size that it does not have");
  }
  if (read > bytes) fault("cp.async reads more than it writes");
  if (reinterpret_cast<std::uintptr_t>(from) % bytes != 0) {
    fault("cp.async from a misaligned address");
  }
  std::byte* const target = Block::current().shared().pointer(to, bytes);
  Block::thread().copies.issue({.to = aligned(target, to, bytes, "cp.async"),
                                .from = from,
                                .bytes = bytes,
                                .from_bytes = read});
}

// Bytes of an element of ld and st; 0: not supported.
std::size_t width_of(std::string_view type) {
  if (type == "b32" || type == "u32" || type == "s32" || type == "f32") return 4;
  if (type == "b64" || type == "u64" || type == "s64" || type == "f64") return 8;
  return 0;
}

}  // namespace

// Group operations of a thread: commit_group, wait_group n and wait_all of cp.async and of TMA.
bool execute_cp_async(const Instruction& instruction) {
  if (instruction.part(2) == "bulk") return execute_bulk(instruction);
  AsyncCopies& copies = Block::thread().copies;
  const auto landed = [](const AsyncCopy& copy) {
    Block::current().shared().async_proxy().thread_wrote(Block::thread().number, copy.to,
                                                         copy.bytes);
  };
  if (instruction.name() == "cp.async.commit_group") {
    copies.commit();
  } else if (instruction.name() == "cp.async.wait_group") {
    copies.wait(static_cast<std::size_t>(instruction.integer(0)), landed);
  } else if (instruction.name() == "cp.async.wait_all") {
    copies.wait_all(landed);
  } else if (instruction.has("shared") && instruction.has("global")) {
    copy(instruction);
  } else {
    return false;
  }
  return true;
}

// ld.global.u64 x, [at]; ld.shared.f32 x, [at]; st.shared::cluster.v4.f32 [at], {x, y, z, w}.
bool execute_shared(const Instruction& instruction) {
  if (instruction.name() == "ld.global.u64") {
    *instruction.out<std::uint64_t>(0) = *instruction.get<const std::uint64_t*>(1);
    return true;
  }
  if (!instruction.has("shared")) return false;
  const bool stores = instruction.part(0) == "st";
  const std::size_t count = instruction.count() - 1;
  const std::size_t width = width_of(instruction.name().substr(instruction.name().rfind('.') + 1));
  if (width == 0) return false;
  const auto address = instruction.get<std::uint32_t>(stores ? 0 : count);
  const ClusterAddress at = instruction.has("shared::cluster")
                                ? cluster_address(address)
                                : ClusterAddress{&Block::current(), address};
  std::byte* const memory = aligned(at.block->shared().pointer(at.address, count * width), address,
                                    count * width, "ld or st");
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const own = memory + i * width;
    void* const value =
        width == 4 ? static_cast<void*>(instruction.out<std::uint32_t>(stores ? i + 1 : i))
                   : static_cast<void*>(instruction.out<std::uint64_t>(stores ? i + 1 : i));
    std::memcpy(stores ? own : value, stores ? value : own, width);
  }
  if (stores && at.block == &Block::current()) {
    at.block->shared().async_proxy().thread_wrote(Block::thread().number, memory, count * width);
  }
  return true;
}

}  // namespace ridgebench::emulator
