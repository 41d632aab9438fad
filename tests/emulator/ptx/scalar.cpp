// Instructions of one thread on its registers.
#include <cuda_fp16.h>

#include <array>
#include <cmath>

#include "tests/emulator/core/block.hpp"
#include "tests/emulator/core/indices.hpp"
#include "tests/emulator/hopper/cluster.hpp"
#include "tests/emulator/ptx/ptx.hpp"

namespace ridgebench::emulator {
namespace {

// Correctly rounded, which the GPU is not. ".ftz" treats subnormal numbers as zero.
bool execute_special_function(const Instruction& instruction) {
  const auto flushed = [](double x) { return std::abs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; };
  const auto set = [&](double y) { *instruction.out<float>(0) = static_cast<float>(y); };
  const auto x = [&] { return double{instruction.get<float>(1)}; };
  if (instruction.name() == "tanh.approx.f32") {
    set(std::tanh(x()));
  } else if (instruction.name() == "ex2.approx.ftz.f32") {
    set(flushed(std::exp2(flushed(x()))));
  } else if (instruction.name() == "rcp.approx.ftz.f32") {
    set(flushed(1 / flushed(x())));
  } else {
    return false;
  }
  return true;
}

// tanh of two fp16 numbers, correctly rounded.
void execute_tanh_of_two(const Instruction& instruction) {
  auto both = instruction.get<std::array<__half_raw, 2>>(1);
  for (__half_raw& x : both) {
    x = __double2half(std::tanh(static_cast<double>(__half2float(__half(x)))));
  }
  *instruction.out<std::array<__half_raw, 2>>(0) = both;
}

// Source: PTX ISA, "Special Registers".
std::uint64_t special_register(const std::string& name) {
  if (name == "cluster_ctarank") return Block::current().rank();
  if (name == "cluster_nctarank") return Block::current().cluster().size();
  if (name == "ctaid.x") return blockIdx.x;
  if (name == "laneid") return Block::thread().lane;
  if (name == "smid") return blockIdx.x % kMultiprocessors;
  if (name == "globaltimer") {
    static std::uint64_t nanoseconds = 0;
    return nanoseconds += 1000;
  }
  throw NotEmulated("%" + name);
}

}  // namespace

bool execute_scalar(const Instruction& instruction) {
  if (instruction.name() == "mov.u32" || instruction.name() == "mov.u64") {
    const Argument& from = instruction.argument(1);
    const bool special = from.kind == Argument::Kind::special;
    instruction.set(0, special ? special_register(from.name)
                               : static_cast<std::uint64_t>(instruction.integer(1)));
  } else if (instruction.name() == "selp.u32" || instruction.name() == "selp.b32") {
    const bool first = instruction.integer(3) != 0;
    instruction.set(0, static_cast<std::uint64_t>(instruction.integer(first ? 1 : 2)));
  } else if (instruction.name() == "setp.ne.b32" || instruction.name() == "setp.ne.u32") {
    instruction.set(0, instruction.integer(1) != instruction.integer(2) ? 1 : 0);
  } else if (instruction.name() == "tanh.approx.f16x2") {
    execute_tanh_of_two(instruction);
  } else {
    return execute_special_function(instruction);
  }
  return true;
}

}  // namespace ridgebench::emulator
