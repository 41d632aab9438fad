// The bytes that each CUDA technique of an operation of a step moves, counted by the sectors that
// its launch reads and writes, against the compulsory bytes of the operation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/common/random.hpp"
#include "kernels/common/registry.hpp"
#include "tests/emulator/core/watched_memory.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/host_queue.hpp"

namespace ridgebench::emulator {
namespace {

// Its workspaces are watched, too.
class WatchedQueue final : public HostQueue {
 public:
  std::shared_ptr<void> allocate(std::size_t bytes) override {
    workspaces_.push_back(std::make_shared<WatchedMemory>(bytes));
    return {workspaces_.back(), workspaces_.back()->data()};
  }
  [[nodiscard]] const auto& workspaces() const { return workspaces_; }

 private:
  std::vector<std::shared_ptr<WatchedMemory>> workspaces_;
};

constexpr auto kSector = static_cast<double>(kSectorBytes);

// One launch.
class WatchedRun {
 public:
  WatchedRun(const Implementation& implementation, const Shape& shape)
      : operands_(implementation.operation->operands(shape, implementation.format)),
        bytes_(bytes(*implementation.operation, shape, implementation.format)) {
    std::vector<void*> pointers;
    for (const Operand& o : operands_) {
      memory_.push_back(std::make_unique<WatchedMemory>(static_cast<std::size_t>(o.bytes())));
      pointers.push_back(memory_.back()->data());
      if (!o.is_input()) continue;
      fill_random(pointers.back(), o.elements, o.format,
                  {.fill = Fill::normal,
                   .values = o.values,
                   .seed = 1,
                   .stream = static_cast<std::uint32_t>(pointers.size())},
                  1);
    }
    const Plan plan = implementation.prepare ? implementation.prepare(queue_, shape) : nullptr;
    implementation.bind(queue_, plan, shape, pointers)();
  }

  // Each sector of an input is read and each of an output is written, and no others.
  void expect_compulsory_bytes() const {
    double sum = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const SectorCounts& found = memory_[i]->counts();
      const Operand& o = operands_[i];
      EXPECT_EQ(static_cast<double>(found.read) * kSector, o.is_input() ? o.used_bytes() : 0)
          << "read of " << o.name;
      EXPECT_EQ(static_cast<double>(found.written) * kSector, o.is_output() ? o.used_bytes() : 0)
          << "written of " << o.name;
      EXPECT_EQ(found.outside, 0) << o.name;
      EXPECT_EQ(found.rewritten, 0) << o.name;
      sum += static_cast<double>(found.read + found.written) * kSector;
    }
    EXPECT_EQ(sum, bytes_);
  }

  // The bytes that blocks request beyond their own first-level caches, over the compulsory bytes.
  // Workspaces count too.
  [[nodiscard]] double by_blocks() const {
    std::int64_t sectors = 0;
    const auto add = [&](const SectorCounts& counts) {
      sectors += counts.read_by_blocks + counts.written_by_blocks;
    };
    for (const auto& one : memory_) add(one->counts());
    for (const auto& one : queue_.workspaces()) add(one->counts());
    return static_cast<double>(sectors) * kSector / bytes_;
  }

 private:
  std::vector<Operand> operands_;
  double bytes_;
  std::vector<std::unique_ptr<WatchedMemory>> memory_;
  WatchedQueue queue_;
};

// Rows of the operands are whole sectors in every format. Every technique takes the first shape in
// every format. Those that are meant to reach their limit take the others in bf16. Each access
// costs a few microseconds.
std::vector<std::string> shapes_of(const Operation& operation) {
  const auto& names = operation.dimensions;
  if (names.size() == 1) return {"n:272", "n:4112"};  // two blocks of either technique
  if (operation.name == "rope") return {"b:1/s:2/h:32/d:64", "b:2/s:24/h:8/d:128"};
  if (operation.name == "attention_decode") {
    return {"b:1/h:4/kv:1/s:32/d:32", "b:1/h:4/kv:1/s:256/d:64", "b:1/h:16/kv:1/s:128/d:64"};
  }
  return {"m:16/n:144", "m:16/n:1104"};
}

// The rows of an operation in the table of the page; checks every technique.
std::string rows_of(const Operation& operation) {
  std::string rows;
  const std::vector<std::string> shapes = shapes_of(operation);
  for (const std::string& shape : shapes) {
    std::map<std::string, std::string> by_blocks{{"naive", "-"}};  // in bf16, by technique
    for (const auto& i : Registry::instance().implementations()) {
      if (i->backend != Backend::cuda || i->operation != &operation) continue;
      const std::string name = i->technique.name;
      const bool bf16 = i->format == FormatPair(Format::bf16);
      if (shape != shapes.front() && (name == "naive" || !bf16)) continue;
      SCOPED_TRACE(operation.name + "/" + name + "/" + i->format.name() + " " + shape);
      const WatchedRun run(*i, parse_shape(shape, operation));
      run.expect_compulsory_bytes();
      if (bf16) by_blocks[name] = fmt::format("{:.2f}", run.by_blocks());
      if (operation.dimensions.size() == 1) {
        EXPECT_EQ(run.by_blocks(), 1);
      }
    }
    const std::string naive = by_blocks.extract("naive").mapped();
    EXPECT_EQ(by_blocks.size(), 1U) << "one technique besides the naive one";
    for (const auto& [name, ratio] : by_blocks) {
      rows += fmt::format("| `{}` | `{}` | {} | `{}` {} |\n", operation.name, shape, naive, name,
                          ratio);
    }
  }
  return rows;
}

// Operations of the page: grouped products are on another one.
bool of_page(const Operation& o) { return o.of_step && o.name != "matmul_grouped"; }

class StepBytes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kWatchesMemory) GTEST_SKIP() << kNotWatched;
    set_compute_capability(90);
    set_multiprocessors(kMultiprocessors);
  }
};

TEST_F(StepBytes, OfElementwiseOperationsEqualTheCompulsoryOnes) {
  for (const auto& operation : Registry::instance().operations()) {
    if (of_page(*operation) && operation->dimensions.size() == 1) rows_of(*operation);
  }
}

TEST_F(StepBytes, OfRowsAndTilesEqualTheCompulsoryOnesAndThePageHasThoseOfBlocks) {
  std::string rows;
  for (const auto& operation : Registry::instance().operations()) {
    if (of_page(*operation) && operation->dimensions.size() > 1) rows += rows_of(*operation);
  }
  std::ifstream file(RIDGEBENCH_SOURCE_DIR "/docs/step_operations.md");
  const std::string page{std::istreambuf_iterator(file), {}};
  EXPECT_NE(page.find("|---|---|---|---|\n" + rows + "\n"), std::string::npos) << "the page lacks\n"
                                                                               << rows;
}

}  // namespace
}  // namespace ridgebench::emulator
