// Every CUDA technique in every format on the GPU: awkward shapes against the reference, element by
// element, and vectors and matrices of more than 2^31 elements against a sample of it.
#include <algorithm>
#include <map>
#include <string>

#include "harness/measure/buffers.hpp"
#include "harness/measure/verifying/verification.hpp"
#include "kernels/common/error.hpp"
#include "tests/device/device_fixture.hpp"
#include "tests/support/awkward_shapes.hpp"

namespace ridgebench {
namespace {

constexpr std::uint64_t kSeed = 3;

// A technique bound to one buffer set, on operands that guard zones surround.
class DeviceRun {
 public:
  DeviceRun(Device& device, const Implementation& implementation, const Shape& shape, Fill fill)
      : device_(device),
        implementation_(implementation),
        problem_(*implementation.operation, shape, implementation.format),
        buffers_(device, fill, kSeed),
        set_(buffers_.allocate(problem_.operands, 1).front()) {
    if (const auto reason = implementation.unsupported(device.machine(), shape)) {
      throw Unsupported(*reason);
    }
    Queue& queue = device.queue();
    const Plan plan = implementation.prepare ? implementation.prepare(queue, shape) : nullptr;
    launch_ = [plan, launch = implementation.bind(queue, plan, shape, set_)] { launch(); };
  }

  // Runs once on poisoned outputs; returns what identifies the bits of the outputs.
  std::uint64_t run() {
    buffers_.reset();
    device_.run(launch_);
    EXPECT_TRUE(buffers_.guards_intact());
    return checksum_of(device_.memory(), problem_.outputs, set_);
  }

  Verification verify(const std::vector<std::int64_t>& rows) {
    std::vector<HostBuffer> copies(problem_.operands.size());
    const auto inputs = [&] {
      std::vector<View> views;
      for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
        const Operand& operand = problem_.operands[i];
        if (!operand.is_input()) continue;
        const DeviceMemory::Region whole = region_of(operand, set_[i]);
        views.push_back({device_.memory().on_host({&whole, 1}, copies[i]), operand.format});
      }
      return views;
    };
    std::vector<HostBuffer> copies_of_rows;
    const std::vector<View> sampled =
        read_rows(device_.memory(), problem_.outputs, rows, set_, copies_of_rows);
    ReferenceCache references;
    const Verification result = compare(implementation_, problem_, sampled, rows,
                                        references.get("", problem_, inputs, rows));
    EXPECT_FALSE(outputs_hold_nan(device_.memory(), problem_.outputs, set_));
    return result;
  }

  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  Device& device_;
  const Implementation& implementation_;
  Problem problem_;
  Buffers buffers_;
  BufferSet set_;
  Launch launch_;
};

// One test a technique, so that each can run in a process of its own: a kernel that breaks the
// context of its process or never ends then costs no other.
class Kernels : public DeviceTest, public ::testing::WithParamInterface<std::string> {
 protected:
  template <class Check>
  static void for_each_format(Check check) {
    for (const Implementation* i : techniques().at(GetParam())) {
      SCOPED_TRACE(GetParam() + " " + i->format.name());
      check(*i);
    }
  }

 public:
  using Techniques = std::map<std::string, std::vector<const Implementation*>>;

  // By the name that a test has, OPERATION_TECHNIQUE.
  static const Techniques& techniques() {
    static const Techniques all = [] {
      Techniques found;
      for (const auto& i : Registry::instance().implementations()) {
        if (i->backend != Backend::cuda) continue;
        found[std::string(i->operation->name) + "_" + std::string(i->technique.name)].push_back(
            i.get());
      }
      return found;
    }();
    return all;
  }

  static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& [name, formats] : techniques()) all.push_back(name);
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Cuda, Kernels, ::testing::ValuesIn(Kernels::names()),
                         [](const auto& test) { return test.param; });

// False where the technique does not serve the shape.
bool expect_right(Device& device, const Implementation& implementation, const Shape& shape) {
  SCOPED_TRACE(shape.text());
  try {
    for (const Fill fill : {Fill::normal, Fill::integers}) {
      DeviceRun run(device, implementation, shape, fill);
      const std::uint64_t first = run.run();
      const Verification verification = run.verify(run.problem().all_rows());
      EXPECT_LE(verification.error, 1);
      if (fill == Fill::integers && exact_on_integers(*implementation.operation)) {
        EXPECT_TRUE(verification.exact);
      }
      if (!implementation.technique.order_dependent) {
        EXPECT_EQ(run.run(), first) << "a second launch gave other bits";
      }
    }
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

TEST_P(Kernels, AreRightOnAwkwardShapes) {
  for_each_format([&](const Implementation& implementation) {
    int served = 0;
    for (const Shape& shape : awkward_shapes(*implementation.operation)) {
      served += expect_right(device(), implementation, shape) ? 1 : 0;
    }
    for (const Shape& shape : shapes_of_many_tiles(*implementation.operation)) {
      served += expect_right(device(), implementation, shape) ? 1 : 0;
    }
    if (served == 0)
      std::printf("serves none of the shapes: %s %s\n", GetParam().c_str(),
                  implementation.format.name().c_str());
  });
}

// More tiles than multiprocessors, a ragged edge and enough of k that every ring of stages wraps;
// one row in each band of 128 is checked, at a place that moves from band to band.
TEST_P(Kernels, AreRightOnMoreTilesThanMultiprocessors) {
  for_each_format([&](const Implementation& implementation) {
    if (implementation.operation->dimensions.size() != 3 || implementation.operation->ceiling)
      return;
    for (const Layout layout : {Layout::nt, Layout::nn, Layout::tn}) {
      if (layout != Layout::nt && implementation.operation->name != "matmul") continue;
      const Shape shape({{"m", 3376}, {"n", 4144}, {"k", 1104}}, layout);
      try {
        DeviceRun run(device(), implementation, shape, Fill::integers);
        const std::uint64_t first = run.run();
        std::vector<std::int64_t> rows;
        for (std::int64_t band = 0; band * 128 < shape["m"]; ++band)
          rows.push_back(std::min(band * 128 + band * 37 % 128, shape["m"] - 1));
        const Verification verification = run.verify(rows);
        EXPECT_LE(verification.error, 1) << shape.text();
        if (exact_on_integers(*implementation.operation)) {
          EXPECT_TRUE(verification.exact) << shape.text();
        }
        if (!implementation.technique.order_dependent) {
          EXPECT_EQ(run.run(), first) << shape.text();
        }
      } catch (const Unsupported&) {
        continue;
      }
    }
  });
}

// Few enough launches for a tool that slows each down a hundred times.
TEST_P(Kernels, AreRightOnSmallShapes) {
  for_each_format([&](const Implementation& implementation) {
    const std::vector<Shape> shapes = awkward_shapes(*implementation.operation);
    for (const std::size_t i : {shapes.size() / 2, shapes.size() - 1}) {
      expect_right(device(), implementation, shapes[i]);
    }
  });
}

// Beyond 2^31 elements, in the narrowest format, where an index of 32 bits runs over.
std::optional<Shape> huge_shape(const Operation& operation) {
  constexpr std::int64_t beyond = (std::int64_t{1} << 31U) + 33;
  using Names = std::vector<std::string>;
  const Names& names = operation.dimensions;
  if (names == Names{"n"} && operation.name != "launch") return Shape({{"n", beyond}});
  if (names == Names{"m", "n"}) return Shape({{"m", 65552}, {"n", 32784}});
  if (names == Names{"m", "n", "k"}) {
    return Shape({{"m", 65552}, {"n", 16}, {"k", 32784}}, Layout::nt);
  }
  return std::nullopt;
}

TEST_P(Kernels, AreRightBeyond2To31Elements) {
  int ran = 0;
  int too_large = 0;
  for_each_format([&](const Implementation& implementation) {
    const std::optional<Shape> shape = huge_shape(*implementation.operation);
    const bool narrow = info(implementation.format.a).storage_bytes == 1;
    if (!shape || (!narrow && !implementation.operation->ceiling)) return;
    SCOPED_TRACE(shape->text());
    try {
      DeviceRun run(device(), implementation, *shape, Fill::normal);
      run.run();
      EXPECT_LE(run.verify(rows_to_check(run.problem(), kSeed)).error, 1);
      ++ran;
    } catch (const Unsupported&) {
      return;
    } catch (const OutOfMemory& error) {
      std::printf("too little memory: %s %s: %s\n", GetParam().c_str(),
                  implementation.format.name().c_str(), error.what());
      ++too_large;
    }
  });
  if (too_large > 0) GTEST_SKIP() << too_large << " formats did not fit into memory";
  if (ran > 0) return;
  std::printf("no format of this test: %s\n", GetParam().c_str());
  GTEST_SKIP() << "no format of one byte";
}

}  // namespace
}  // namespace ridgebench
