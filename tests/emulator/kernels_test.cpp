// Every CUDA technique in every format against its operation's reference, on awkward shapes. Each
// technique and format is a test, registered at start-up.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulator/emulator.hpp"
#include "tests/support/awkward_shapes.hpp"
#include "tests/support/host_run.hpp"

namespace ridgebench::emulator {
namespace {

// One output after the other.
std::vector<std::byte> output_bytes(HostRun& run) {
  std::vector<std::byte> all;
  for (GuardedArray& array : run.launched()) {
    if (!array.operand().is_output()) continue;
    const auto* first = static_cast<const std::byte*>(array.data());
    all.insert(all.end(), first, first + static_cast<std::size_t>(array.operand().bytes()));
  }
  return all;
}

// The memory just outside the operands, and between their rows.
std::vector<std::span<const std::byte>> around(HostRun& run) {
  std::vector<std::span<const std::byte>> memory;
  for (GuardedArray& array : run.launched()) {
    const auto* first = static_cast<const std::byte*>(array.data());
    const auto bytes = static_cast<std::size_t>(array.operand().bytes());
    memory.emplace_back(first - GuardedArray::kGuardBytes, GuardedArray::kGuardBytes);
    memory.emplace_back(first + bytes, GuardedArray::kGuardBytes);
    for (const auto gap : array.gaps()) memory.push_back(std::as_bytes(gap));
  }
  return memory;
}

// A second launch with the threads in the opposite order must give the same bits.
void expect_same_again(HostRun& run, bool order_dependent) {
  const std::vector<std::byte> first = output_bytes(run);
  set_order(Order::descending);
  run.launch(2);
  set_order(Order::ascending);
  if (order_dependent) {
    EXPECT_LE(run.verify().error, 1);
  } else {
    EXPECT_EQ(output_bytes(run), first) << "another order of the threads gives other bits";
  }
}

Machine emulated_machine() {
  const auto attribute = [](cudaDeviceAttr which) {
    int value = 0;
    cudaDeviceGetAttribute(&value, which, 0);
    return value;
  };
  Machine machine;
  machine.units = attribute(cudaDevAttrMultiProcessorCount);
  machine.compute_capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
                               attribute(cudaDevAttrComputeCapabilityMinor);
  machine.peers = {1};
  return machine;
}

// False where the technique does not serve the shape.
bool expect_right(const Implementation& implementation, const Shape& shape) {
  SCOPED_TRACE(shape.text());
  if (implementation.unsupported(emulated_machine(), shape)) return false;
  HostRun run(implementation, shape);
  const ForbiddenMemory forbidden(around(run));
  run.fill(Fill::normal);
  if (!run.launch()) return false;
  EXPECT_LE(run.verify().error, 1);
  expect_same_again(run, implementation.technique.order_dependent);
  if (exact_on_integers(*implementation.operation)) {
    run.fill(Fill::integers);
    set_order(Order::hesitant);
    run.launch();
    set_order(Order::ascending);
    EXPECT_TRUE(run.verify().exact);
  }
  return true;
}

void set_bits(GuardedArray& x, std::int64_t index, std::uint32_t bits) {
  const auto width = static_cast<std::size_t>(info(x.operand().format).storage_bytes);
  std::memcpy(static_cast<std::byte*>(x.data()) + static_cast<std::size_t>(index) * width, &bits,
              width);
}

// y is NaN exactly where x is; infinities are not checked.
void expect_nan_where_input_is(HostRun& run) {
  ASSERT_TRUE(run.launch());
  const View x = run.array(0).view();
  for (std::int64_t i = 0; i < run.output().operand().elements; ++i) {
    if (std::isinf(x[i])) continue;
    ASSERT_EQ(std::isnan(run.output().view()[i]), std::isnan(x[i])) << "element " << i;
  }
}

void expect_nan_stays_nan_and_only_there(const Implementation& implementation) {
  const FormatInfo& f = info(implementation.format.a);
  // A NaN of either sign among numbers, in vectors of 16 bytes and after the last one.
  for (const std::uint32_t sign : {0U, 1U}) {
    for (const std::int64_t at : {0, 5, 500, 1002}) {
      HostRun run(implementation, Shape({{"n", 1003}}));
      run.fill(Fill::normal);
      const std::uint32_t largest = (1U << (f.bits() - 1)) - 1U;
      set_bits(run.array(0), at, largest | sign << (f.bits() - 1));
      expect_nan_where_input_is(run);
    }
  }
  if (f.storage_bytes > 2) return;
  // Every value of the format, NaN included.
  const std::int64_t codes = std::int64_t{1} << f.bits();
  HostRun run(implementation, Shape({{"n", codes}}));
  for (std::int64_t i = 0; i < codes; ++i) {
    set_bits(run.array(0), i, static_cast<std::uint32_t>(i));
  }
  expect_nan_where_input_is(run);
}

std::vector<Shape> shapes_of(const Implementation& implementation) {
  const Operation& operation = *implementation.operation;
  const std::string_view technique = implementation.technique.name;
  std::vector<Shape> shapes = awkward_shapes(operation);
  // Tuning launches all candidates many times, and other techniques test the candidates.
  if (technique.find("tuned") != std::string_view::npos) {
    constexpr std::int64_t least = 32;
    std::erase_if(shapes, [&](const Shape& shape) {
      return std::ranges::any_of(shape.dimensions(),
                                 [&](const auto& d) { return d.second < least; });
    });
  }
  return shapes;
}

// A GPU so small that persistent grids loop and choose the largest tiles.
void expect_right_on_a_small_gpu(const Implementation& implementation) {
  const std::string_view technique = implementation.technique.name;
  const bool large_tiles = technique.find("wgmma") != std::string_view::npos ||
                           technique.find("tma") != std::string_view::npos;
  if (!large_tiles || technique.find("tuned") != std::string_view::npos) return;
  set_multiprocessors(2);
  for (const Shape& shape : shapes_of_many_tiles(*implementation.operation)) {
    expect_right(implementation, shape);
  }
  set_multiprocessors(kMultiprocessors);
}

// With one of every other size.
Shape of_elements(const Implementation& implementation, std::int64_t n) {
  std::vector<Shape::Dimension> dimensions = unit_shape(*implementation.operation).dimensions();
  dimensions.front().second = n;
  return Shape(dimensions).with(implementation.operation->attributes);
}

// A GPU so small that blocks read several rounds of a long vector, and the last one a part.
void expect_right_in_long_stretches(const Implementation& implementation) {
  set_multiprocessors(1);
  for (const int capability : {89, 90}) {
    set_compute_capability(capability);
    EXPECT_TRUE(expect_right(implementation, Shape({{"n", 300007}})));
  }
  set_multiprocessors(kMultiprocessors);
}

// The block that the technique chooses for a device of this capability and memory (per SM), with
// which it is also right. 0: unknown memory.
std::string right_choice(const Implementation& implementation, int capability, double bandwidth) {
  set_compute_capability(capability);
  set_memory_bandwidth(bandwidth);
  for (const std::int64_t n : {1, 15, 16 * 4096, 70001}) {
    EXPECT_TRUE(expect_right(implementation, of_elements(implementation, n)));
  }
  HostQueue queue;
  const Plan plan = implementation.prepare(queue, of_elements(implementation, 70001));
  set_memory_bandwidth(0);
  return implementation.choice(plan);
}

// Every number of threads that a kernel is compiled for.
void expect_right_in_every_form(const Implementation& implementation) {
  std::set<std::string> choices;
  for (const auto& [capability, bandwidth] : {std::pair(90, 0.0), {89, 10e9}, {90, 40e9}}) {
    choices.insert(right_choice(implementation, capability, bandwidth));
  }
  // Kernels of more registers have no blocks of 1024 threads.
  const Operation& operation = *implementation.operation;
  EXPECT_EQ(choices.size(), operation.of_step || operation.name == "gelu" ? 2U : 3U);
}

class Technique : public ::testing::Test {
 public:
  explicit Technique(const Implementation& implementation) : implementation_(implementation) {}

  void TestBody() override {
    // Some techniques run on Hopper only, others on everything else.
    const bool served = serves_any(90) || serves_any(89);
    set_compute_capability(90);
    expect_right_on_a_small_gpu(implementation_);
    EXPECT_TRUE(served) << "serves none of the shapes";
    // Neither mma.sync in these formats nor wgmma exists before compute capability 8.0.
    const bool tensor = implementation_.technique.engine == Engine::tensor;
    EXPECT_FALSE(tensor && serves_any(75)) << "serves compute capability 7.5";
    const std::string_view operation = implementation_.operation->name;
    const bool streams = implementation_.technique.name == "vec16";
    if (streams && implementation_.choice) expect_right_in_every_form(implementation_);
    if (operation == "dot" || operation == "dram_read") {
      expect_right_in_long_stretches(implementation_);
    }
    if (operation == "relu" || operation == "gelu") {
      expect_nan_stays_nan_and_only_there(implementation_);
    }
  }

 private:
  bool serves_any(int compute_capability) {
    set_compute_capability(compute_capability);
    bool any = false;
    for (const Shape& shape : shapes_of(implementation_)) {
      any = expect_right(implementation_, shape) || any;
    }
    return any;
  }

  const Implementation& implementation_;
};

void register_tests() {
  for (const auto& i : Registry::instance().implementations()) {
    if (i->backend != Backend::cuda) continue;
    const std::string suite = std::string(i->operation->name);
    const std::string name = std::string(i->technique.name) + "_" + i->format.name();
    ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [&i]() -> ::testing::Test* { return new Technique(*i); });
  }
}

}  // namespace
}  // namespace ridgebench::emulator

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  omp_set_num_threads(1);  // references are small, and tests run in parallel
  ridgebench::Registry::instance().resolve();
  ridgebench::emulator::register_tests();
  return RUN_ALL_TESTS();
}
