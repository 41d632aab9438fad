// Softmax, RMSNorm, rotary embedding, cross-entropy and attention to a cache: the host techniques
// against the references at odd shapes, the references against plain computations, and what is
// counted.
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/exp2.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/awkward_shapes.hpp"
#include "tests/support/host_run.hpp"

#include "kernels/common/cpu/rows.hpp"

namespace ridgebench {
namespace {

const Operation& row_operation(std::string_view name) {
  return Registry::instance().operation(name);
}

void store(GuardedArray& array, std::int64_t index, double value) {
  const FormatInfo& f = info(array.operand().format);
  const std::uint64_t bits = stored_bits(f.format, value);
  const auto size = static_cast<std::size_t>(f.storage_bytes);
  std::memcpy(static_cast<std::byte*>(array.data()) + static_cast<std::size_t>(index) * size, &bits,
              size);
}

std::vector<double> row_of(View view, std::int64_t first, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  view.read(first, values);
  return values;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

View view_of(const std::vector<double>& values) { return {values.data(), Format::fp64}; }

std::vector<double> some_numbers(std::int64_t count, std::uint32_t stream) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  fill_random(numbers.data(), count, Format::fp64, Fill::normal, 1, stream, 1);
  return numbers;
}

// How far a sum of `n` rounded numbers, whose magnitudes add up to `magnitude`, may be from that of
// the numbers, if each is right to the last place of its format and 1e-5 of itself.
double slack(Format format, double magnitude, std::int64_t n) {
  const FormatInfo& f = info(format);
  return (f.epsilon() / 2 + 1e-5) * magnitude + static_cast<double>(n) * f.min_subnormal();
}

class RowOperations : public ::testing::TestWithParam<const char*> {};

TEST_P(RowOperations, EveryHostTechniqueIsRightAtOddShapesAndAlignments) {
  const Operation& operation = row_operation(GetParam());
  std::vector<Shape> shapes = awkward_shapes(operation);
  if (operation.dimensions == std::vector<std::string>{"m", "n"}) {
    for (const std::int64_t n : {1, 3, 511, 512, 513, 1023}) {
      shapes.push_back(Shape({{"m", 3}, {"n", n}}, {}, operation.attributes));
    }
    // So many terms that the rounding errors of a naive sum show.
    shapes.push_back(Shape({{"m", 1}, {"n", 40000}}, {}, operation.attributes));
  }
  for_each_host_technique(operation.name, [&](const Implementation& implementation) {
    for (const Shape& shape : shapes) {
      for (const std::int64_t offset : {0, 1}) {
        expect_right(implementation, shape, offset, exact_on_integers(operation));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Step, RowOperations,
                         ::testing::Values("softmax", "rmsnorm", "rope", "cross_entropy",
                                           "attention_decode"),
                         [](const auto& test) { return std::string(test.param); });

// Strips that streaming stores write are those that ordinary ones write, at every alignment, and
// nothing beside them changes.
template <class T>
void expect_streamed_rows_are_the_same() {
  std::vector<float> x(600);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.37F * static_cast<float>(i) - 99;
  for (const std::int64_t n : {0, 1, 15, 31, 64, 65, 127, 257, 512, 599}) {
    for (const std::int64_t offset : {0, 1, 13, 31, 63}) {
      std::vector<T> ordinary(static_cast<std::size_t>(offset + n + 1));
      std::vector<T> streamed = ordinary;
      cpu::write_row(x.data(), ordinary.data() + offset, n, false);
      cpu::write_row(x.data(), streamed.data() + offset, n, true);
      cpu::streaming_fence();
      ASSERT_EQ(std::memcmp(streamed.data(), ordinary.data(), ordinary.size() * sizeof(T)), 0)
          << n << " at " << offset;
    }
  }
}

TEST(StripsOfRows, StreamingStoresWriteTheSame) {
  expect_streamed_rows_are_the_same<float>();
  expect_streamed_rows_are_the_same<Bf16>();
  expect_streamed_rows_are_the_same<Fp16>();
}

// Rows begin at every place of a line, and the arrays leave the caches.
TEST(RowsBeyondTheCaches, AreRight) {
  constexpr std::int64_t kColumns = 2049;
  const std::int64_t kept = std::min(cpu::last_level_cache_bytes(), cpu::kMostKept);
  const std::int64_t rows = kept / 4 / kColumns + 2;
  ASSERT_TRUE(cpu::streaming_pays<Bf16>(rows * kColumns));
  const auto attributes = row_operation("rmsnorm").attributes;
  const std::vector<std::pair<const char*, Shape>> cases{
      {"softmax", Shape({{"m", rows}, {"n", kColumns}})},
      {"cross_entropy", Shape({{"m", rows}, {"n", kColumns}})},
      {"rmsnorm", Shape({{"m", rows}, {"n", kColumns}}, {}, attributes)},
      {"rope", Shape({{"b", 1}, {"s", rows}, {"h", 1}, {"d", kColumns + 1}})}};
  for (const auto& [operation, sizes] : cases) {
    for_each_host_technique(operation, [&shape = sizes](const Implementation& one) {
      const bool streams = one.technique.isa != Isa::none;  // neither naive nor of a library
      if (streams && one.format.a == Format::bf16) expect_right(one, shape, 0, false);
    });
  }
}

TEST(Softmax, RowsSumToOne) {
  constexpr std::int64_t kRows = 5;
  for (const std::int64_t n : {1, 2, 63, 1023, 4099}) {
    for_each_host_technique("softmax", [&](const Implementation& implementation) {
      HostRun run(implementation, Shape({{"m", kRows}, {"n", n}}));
      run.fill(Fill::normal);
      ASSERT_TRUE(run.launch());
      for (std::int64_t row = 0; row < kRows; ++row) {
        const double sum = sum_of(row_of(run.output().view(), row * n, n));
        EXPECT_NEAR(sum, 1, slack(implementation.format.a, 1, n)) << n;
      }
    });
  }
}

TEST(Softmax, LargeValuesDoNotOverflow) {
  constexpr std::int64_t kColumns = 600;  // two strips of a host technique
  for (const std::int64_t at : {0, 7, 599}) {
    for_each_host_technique("softmax", [&](const Implementation& implementation) {
      HostRun run(implementation, Shape({{"m", 2}, {"n", kColumns}}));
      run.fill(Fill::normal);
      // In the first row one value beats the others by far; in the second all are large and
      // negative.
      for (std::int64_t j = 0; j < kColumns; ++j) {
        store(run.array(0), j, j == at ? 10000 : -10000 + 30.0 * static_cast<double>(j));
        store(run.array(0), kColumns + j, j == at ? -9000 : -9000 - 0.25 * static_cast<double>(j));
      }
      ASSERT_TRUE(run.launch());
      EXPECT_LE(run.verify().error, 1);
      EXPECT_EQ(run.output().view()[at], 1);
      const double sum = sum_of(row_of(run.output().view(), kColumns, kColumns));
      EXPECT_NEAR(sum, 1, slack(implementation.format.a, 1, kColumns));
    });
  }
}

TEST(Softmax, MinusInfinityHasNoShareAndNanSpoilsItsRowOnly) {
  for_each_host_technique("softmax", [](const Implementation& implementation) {
    constexpr std::int64_t kColumns = 700;
    HostRun run(implementation, Shape({{"m", 3}, {"n", kColumns}}));
    run.fill(Fill::normal);
    for (std::int64_t j = 0; j < 600; ++j) {
      store(run.array(0), j, -std::numeric_limits<double>::infinity());
    }
    run.array(0).set_nan(kColumns + 650);
    ASSERT_TRUE(run.launch());
    const View y = run.output().view();
    EXPECT_EQ(sum_of(row_of(y, 0, 600)), 0);
    EXPECT_NEAR(sum_of(row_of(y, 600, 100)), 1, slack(implementation.format.a, 1, kColumns));
    for (const std::int64_t j : {0, 650, 699}) EXPECT_TRUE(std::isnan(y[kColumns + j])) << j;
    EXPECT_FALSE(std::isnan(sum_of(row_of(y, 2 * kColumns, kColumns))));
  });
}

TEST(Rmsnorm, ReferenceDividesByTheRootOfTheMeanSquare) {
  const Operation& rmsnorm = row_operation("rmsnorm");
  const Shape shape = parse_shape("m:2/n:4/eps:0.25", rmsnorm);
  const std::vector<double> x{9, 9, 9, 9, 1, 1, -1, 3};  // mean square 3 in the second row
  const std::vector<double> w{1, 2, 3, 4};
  const std::vector<View> in{view_of(x), view_of(w)};
  std::vector<Expected> y(4);
  rmsnorm.reference(shape, 1, in, y);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(y[j].value, x[4 + j] * w[j] / std::sqrt(3.25), 1e-15);
    EXPECT_GE(y[j].norm, std::abs(y[j].value));
  }
}

// Rotates one head by the operation's reference, with the true angles of Llama at the positions
// 0 .. s - 1.
std::vector<double> rotated(const std::vector<double>& head, std::int64_t position) {
  const Operation& rope = row_operation("rope");
  const auto d = static_cast<std::int64_t>(head.size());
  const Shape shape({{"b", 1}, {"s", position + 1}, {"h", 1}, {"d", d}});
  std::vector<double> x(static_cast<std::size_t>((position + 1) * d));
  std::vector<double> table(x.size());
  std::copy_n(head.data(), d, x.data() + position * d);
  for (std::int64_t s = 0; s <= position; ++s) {
    for (std::int64_t i = 0; i < d / 2; ++i) {
      const double angle = static_cast<double>(s) *
                           std::pow(10000, -2 * static_cast<double>(i) / static_cast<double>(d));
      table[static_cast<std::size_t>(s * d + i)] = std::cos(angle);
      table[static_cast<std::size_t>(s * d + d / 2 + i)] = std::sin(angle);
    }
  }
  const std::vector<View> in{view_of(x), view_of(table)};
  std::vector<Expected> y(head.size());
  rope.reference(shape, position, in, y);
  std::vector<double> values;
  for (const Expected& e : y) values.push_back(e.value);
  return values;
}

double dot_of(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

TEST(Rope, ProductsDependOnTheDistanceOfPositions) {
  const std::vector<double> q = some_numbers(10, 0);
  const std::vector<double> k = some_numbers(10, 1);
  EXPECT_EQ(rotated(q, 0), q);
  const std::vector<double> moved = rotated(q, 5);
  EXPECT_NEAR(dot_of(moved, moved), dot_of(q, q), 1e-12);
  EXPECT_NEAR(dot_of(moved, rotated(k, 2)), dot_of(rotated(q, 8), rotated(k, 5)), 1e-12);
  EXPECT_GT(std::abs(dot_of(moved, rotated(k, 2)) - dot_of(moved, rotated(k, 4))), 1e-3);
}

TEST(CrossEntropy, ReferenceIsTheLogarithmOfTheLabelsShare) {
  const Operation& cross_entropy = row_operation("cross_entropy");
  const Shape shape({{"m", 2}, {"n", 3}});
  // The second row has the shares 1/8, 2/8 and 5/8.
  const std::vector<double> logits{0, 0, 0, 0, std::log(2.0), std::log(5.0)};
  const std::vector<std::int32_t> labels{0, 1};
  const std::vector<View> in{view_of(logits), {labels.data(), Format::int32}};
  std::vector<Expected> out(4);
  cross_entropy.reference(shape, 1, in, out);
  EXPECT_NEAR(out[0].value, std::log(4.0), 1e-15);
  EXPECT_NEAR(out[1].value, 0.125 / 2, 1e-15);
  EXPECT_NEAR(out[2].value, (0.25 - 1) / 2, 1e-15);
  EXPECT_NEAR(out[3].value, 0.625 / 2, 1e-15);
}

TEST(CrossEntropy, GradientIsTheSlopeOfTheMeanLoss) {
  const Operation& cross_entropy = row_operation("cross_entropy");
  constexpr std::int64_t kColumns = 7;
  constexpr double kStep = 1e-6;
  const Shape shape({{"m", 4}, {"n", kColumns}});
  std::vector<double> logits = some_numbers(4 * kColumns, 0);
  const std::vector<std::int32_t> labels{3, 0, 6, 2};
  std::vector<Expected> out(1 + kColumns);
  const auto compute = [&] {
    const std::vector<View> in{view_of(logits), {labels.data(), Format::int32}};
    cross_entropy.reference(shape, 2, in, out);
    return out[0].value;
  };
  for (std::size_t j = 0; j < kColumns; ++j) {
    double& logit = logits[2 * kColumns + j];
    const double old = logit;
    logit = old + kStep;
    const double above = compute();
    logit = old - kStep;
    const double below = compute();
    logit = old;
    compute();
    EXPECT_NEAR(out[1 + j].value, (above - below) / (2 * kStep) / 4, 1e-9) << j;
  }
}

TEST(CrossEntropy, RowsOfTheGradientSumToZero) {
  constexpr std::int64_t kRows = 4;
  for (const std::int64_t n : {1, 3, 1023, 2049}) {
    for_each_host_technique("cross_entropy", [&](const Implementation& implementation) {
      HostRun run(implementation, Shape({{"m", kRows}, {"n", n}}));
      run.fill(Fill::normal);
      ASSERT_TRUE(run.launch());
      for (std::int64_t row = 0; row < kRows; ++row) {
        const std::vector<double> gradient = row_of(run.output().view(), row * n, n);
        double magnitude = 0;
        for (const double value : gradient) magnitude += std::abs(value);
        EXPECT_NEAR(sum_of(gradient), 0, slack(implementation.format.a, 2.0 / kRows, n)) << n;
        EXPECT_EQ(magnitude == 0, n == 1);
      }
    });
  }
}

TEST(CrossEntropy, LargeLogitsDoNotOverflow) {
  for_each_host_technique("cross_entropy", [](const Implementation& implementation) {
    constexpr std::int64_t kColumns = 1023;
    HostRun run(implementation, Shape({{"m", 1}, {"n", kColumns}}));
    run.fill(Fill::normal);
    for (std::int64_t j = 0; j < kColumns; ++j) {
      store(run.array(0), j, 9000 + 0.5 * static_cast<double>(j % 64));
    }
    ASSERT_TRUE(run.launch());
    EXPECT_LE(run.verify().error, 1);
    EXPECT_TRUE(std::isfinite(run.array(2).view()[0]));
  });
}

// o of one query head, in double and without the maximum.
std::vector<double> plain_attention(const double* q, const double* k, const double* v,
                                    std::int64_t s, std::int64_t d) {
  std::vector<double> o(static_cast<std::size_t>(d));
  double sum = 0;
  for (std::int64_t t = 0; t < s; ++t) {
    double score = 0;
    for (std::int64_t i = 0; i < d; ++i) score += q[i] * k[t * d + i];
    const double weight = std::exp(score / std::sqrt(static_cast<double>(d)));
    sum += weight;
    for (std::int64_t i = 0; i < d; ++i) o[static_cast<std::size_t>(i)] += weight * v[t * d + i];
  }
  for (double& value : o) value /= sum;
  return o;
}

TEST(AttentionDecode, ReferenceIsAPlainComputationForEachQueryHead) {
  const Operation& attention = row_operation("attention_decode");
  constexpr std::int64_t kS = 37;
  constexpr std::int64_t kD = 10;
  const Shape shape({{"b", 2}, {"h", 6}, {"kv", 2}, {"s", kS}, {"d", kD}});
  const std::vector<double> q = some_numbers(2 * 6 * kD, 0);
  const std::vector<double> k = some_numbers(2 * 2 * kS * kD, 1);
  const std::vector<double> v = some_numbers(2 * 2 * kS * kD, 2);
  const std::vector<View> in{view_of(q), view_of(k), view_of(v)};
  for (std::int64_t sequence = 0; sequence < 2; ++sequence) {
    for (std::int64_t head = 0; head < 6; ++head) {
      const std::int64_t row = sequence * 6 + head;
      const std::int64_t cache = (sequence * 2 + head / 3) * kS * kD;
      const std::vector<double> plain =
          plain_attention(q.data() + row * kD, k.data() + cache, v.data() + cache, kS, kD);
      std::vector<Expected> o(kD);
      attention.reference(shape, row, in, o);
      for (std::size_t i = 0; i < kD; ++i) EXPECT_NEAR(o[i].value, plain[i], 1e-12);
    }
  }
}

TEST(AttentionDecode, ATokenThatMatchesFarBetterIsTheOutput) {
  for_each_host_technique("attention_decode", [](const Implementation& implementation) {
    constexpr std::int64_t kS = 150;
    constexpr std::int64_t kD = 16;
    HostRun run(implementation, Shape({{"b", 1}, {"h", 2}, {"kv", 1}, {"s", kS}, {"d", kD}}));
    run.fill(Fill::normal);
    for (std::int64_t i = 0; i < 2 * kD; ++i) store(run.array(0), i, 100);
    for (std::int64_t i = 0; i < kS * kD; ++i) store(run.array(1), i, i / kD == 70 ? 50 : -50);
    ASSERT_TRUE(run.launch());
    for (std::int64_t i = 0; i < 2 * kD; ++i) {
      EXPECT_EQ(run.output().view()[i], run.array(2).view()[70 * kD + i % kD]);
    }
  });
}

// Counts what a technique allocates.
class CountingQueue : public HostQueue {
 public:
  explicit CountingQueue(int threads) : HostQueue(threads) {}

  [[nodiscard]] std::shared_ptr<void> allocate(std::size_t bytes) override {
    bytes_ += static_cast<double>(bytes);
    return HostQueue::allocate(bytes);
  }
  [[nodiscard]] double bytes() const { return bytes_; }

 private:
  double bytes_ = 0;
};

TEST(AttentionDecode, DeclaresItsWorkspace) {
  for (const int threads : {1, 3}) {
    for (const Shape& shape : awkward_shapes(row_operation("attention_decode"))) {
      for_each_host_technique("attention_decode", [&](const Implementation& implementation) {
        CountingQueue queue(threads);
        std::array<void*, 4> operands{};
        (void)implementation.bind(queue, nullptr, shape, operands);
        Machine machine;
        machine.units = threads;
        EXPECT_EQ(implementation.workspace_bytes(machine, shape), queue.bytes());
      });
    }
  }
}

// Splits of a context give what the whole gives, in the tolerance, and the same bits every time.
TEST(AttentionDecode, AnyNumberOfThreadsIsRight) {
  const Shape shape({{"b", 1}, {"h", 4}, {"kv", 2}, {"s", 333}, {"d", 48}});
  for_each_host_technique("attention_decode", [&](const Implementation& implementation) {
    HostRun run(implementation, shape);
    run.fill(Fill::normal);
    for (const int threads : {1, 5, 16}) {
      CountingQueue queue(threads);
      std::vector<void*> operands;
      for (std::size_t i = 0; i < 4; ++i) operands.push_back(run.array(i).data());
      const Launch launch = implementation.bind(queue, nullptr, shape, operands);
      std::vector<double> first;
      for (int time = 0; time < 2; ++time) {
        run.output().poison();
        launch();
        EXPECT_LE(run.verify().error, 1) << threads;
        const std::vector<double> o = row_of(run.output().view(), 0, 4 * 48);
        EXPECT_EQ(o, time == 0 ? o : first) << threads;
        first = o;
      }
    }
  });
}

struct Counted {
  const char* operation;
  const char* shape;
  double flops;
  double bytes;  // in bf16
};

TEST(StepOperations, CountAsTheirPageSays) {
  const double m = 96;
  const double n = 1120;
  const double b = 3, h = 8, kv = 2, s = 500, d = 64;
  const Counted all[] = {
      {"softmax", "m:96/n:1120", 5 * m * n, 2 * 2 * m * n},
      {"rmsnorm", "m:96/n:1120", 4 * m * n + 3 * m, 2 * (2 * m * n + n)},
      {"rope", "b:3/s:500/h:8/d:64", 3 * b * s * h * d, 2 * 2 * b * s * h * d + 4 * s * d},
      {"cross_entropy", "m:96/n:1120", 6 * m * n, 2 * 2 * m * n + 8 * m},
      {"attention_decode", "b:3/h:8/kv:2/s:500/d:64", 4 * b * h * s * d + 5 * b * h * s,
       2 * (2 * b * s * kv * d + 2 * b * h * d)}};
  for (const Counted& counted : all) {
    const Operation& operation = row_operation(counted.operation);
    const Shape shape = parse_shape(counted.shape, operation);
    EXPECT_EQ(operation.flops(shape), counted.flops) << operation.name;
    EXPECT_EQ(bytes(operation, shape, Format::bf16), counted.bytes) << operation.name;
    EXPECT_TRUE(operation.of_step) << operation.name;
  }
}

TEST(StepOperations, RefuseSizesThatDoNotFit) {
  const auto message = [](const char* operation, const char* shape) -> std::string {
    try {
      (void)parse_shape(shape, row_operation(operation));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("attention_decode", "b:1/h:6/kv:4/s:8/d:8"),
            "attention_decode of shape b:1/h:6/kv:4/s:8/d:8: kv does not divide h; allowed: h a "
            "multiple of kv");
  EXPECT_EQ(message("attention_decode", "b:1/h:6/kv:3/s:8/d:8"), "");
  EXPECT_EQ(message("rope", "b:1/s:2/h:3/d:5"),
            "rope of shape b:1/s:2/h:3/d:5: d is odd; allowed: an even number, because the halves "
            "of a head form pairs");
  EXPECT_EQ(message("cross_entropy", "m:1/n:2147483649"),
            "cross_entropy of shape m:1/n:2147483649: n is too large for labels in int32; allowed: "
            "up to 2^31");
  EXPECT_EQ(message("cross_entropy", "m:1/n:2147483648"), "");
}

TEST(StepOperations, SweepsHaveShapesThatTheirOperationsAccept) {
  const Machine machine{.units = 4, .caches = {{1, 32 << 10U, 1}, {3, 16 << 20U, 4}}};
  for (const auto& operation : Registry::instance().operations()) {
    if (!operation->of_step) continue;
    for (const Profile profile : {Profile::quick, Profile::standard, Profile::full}) {
      for (const Pace pace : {Pace::naive, Pace::fast}) {
        const std::vector<Shape> shapes = operation->shapes(profile, pace, machine);
        EXPECT_EQ(shapes.size() == 1, profile == Profile::quick) << operation->name;
        for (const Shape& shape : shapes) {
          EXPECT_EQ(parse_shape(shape.text(), *operation), shape) << operation->name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ridgebench
