#include "harness/measure/verification.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "kernels/common/random.hpp"

namespace ridgebench {
namespace {

// Limit of the multiply-adds of one reference, which take a fraction of a second.
constexpr double kAffordableTerms = 0x1p25;
// Cost of one output in addition to its terms, in multiply-adds.
constexpr double kCostPerOutput = 15;
constexpr double kGrowth = 8;
// A tensor engine adds at least this many terms at once and truncates the sum toward zero. Each
// truncation costs half a unit of the last place on average, and these errors add up. Products of
// cuBLAS and of our kernels on an H100 show the error from a few thousand terms on.
constexpr double kTermsOfAnAddition = 8;
constexpr std::uint32_t kRowStream = 0xFFFFFFFF;  // no input uses this stream

double unit_roundoff(Format format) { return info(format).epsilon() / 2; }

std::int64_t output_elements(const Operation& operation, const Shape& shape, Format format) {
  return operation.operands(shape, format).back().elements;
}

// Returns the elements of row `row`. The last row may be short.
std::int64_t length_of(std::int64_t row, std::int64_t row_length, std::int64_t elements) {
  return std::min(row_length, elements - row * row_length);
}

// Elements that a thread compares at once. They fit into a first-level cache.
constexpr std::int64_t kBlock = 1024;

// The worst of several comparisons.
struct Largest {
  Verification result;

  void add(double error, double tolerance, bool exact) {
    // Comparisons with NaN are false. An output that is NaN gets an infinite error.
    const double ratio = error <= tolerance ? (tolerance > 0 ? error / tolerance : 0)
                         : tolerance > 0    ? error / tolerance
                                            : std::numeric_limits<double>::infinity();
    const double ranked = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
    add({.error = ranked, .tolerance = tolerance, .elements = 1, .exact = exact});
  }

  void add(const Verification& other) {
    if (other.error > result.error || result.elements == 0) {
      result.error = other.error;
      result.tolerance = other.tolerance;
    }
    result.elements += other.elements;
    result.exact = result.exact && other.exact;
  }
};

// Rounds to the output's format as a correct kernel does in its last step.
double rounded(double value, Format format) {
  const FormatInfo& f = info(format);
  if (format == Format::fp32) return static_cast<float>(value);
  return decode_bits(f, encode_bits(f, static_cast<float>(value)));
}

double tolerance_of(const Technique& technique, double terms, Format output, Expected expected) {
  const double cut_off = technique.engine == Engine::tensor ? terms / kTermsOfAnAddition : 0;
  const double accumulated =
      unit_roundoff(technique.accumulator) * (kGrowth * std::sqrt(terms) + cut_off) * expected.norm;
  const double declared =
      (technique.approximation_error + technique.accumulation_error) * expected.norm;
  // Rounding to the output's format costs a relative error, and at least half a subnormal step.
  const double rounding = std::max(unit_roundoff(output) * (std::abs(expected.value) + accumulated),
                                   info(output).min_subnormal() / 2);
  return accumulated + declared + rounding;
}

}  // namespace

std::vector<std::int64_t> rows_to_check(const Operation& operation, const Shape& shape,
                                        std::uint64_t seed, double share) {
  const std::int64_t length = operation.row_length(shape);
  const std::int64_t elements = output_elements(operation, shape, operation.formats.front().a);
  const std::int64_t rows = (elements + length - 1) / length;
  const double cost = static_cast<double>(length) * (operation.reduction(shape) + kCostPerOutput);
  const auto affordable = static_cast<std::int64_t>(std::max(2.0, share * kAffordableTerms / cost));
  std::set<std::int64_t> chosen{0, rows - 1};
  for (std::int64_t i = 0; i < std::min(rows, affordable); ++i) {
    const std::uint32_t draw =
        random_block(seed, kRowStream, static_cast<std::uint64_t>(i)).word[0];
    chosen.insert(rows <= affordable ? i : static_cast<std::int64_t>(draw) % rows);
  }
  return {chosen.begin(), chosen.end()};
}

const std::vector<Expected>& ReferenceCache::get(const std::string& key, const Operation& operation,
                                                 const Shape& shape,
                                                 const std::function<std::vector<View>()>& inputs,
                                                 std::span<const std::int64_t> rows) {
  if (const auto known = values_.find(key); known != values_.end()) return known->second;
  const std::vector<View> views = inputs();
  const std::int64_t length = operation.row_length(shape);
  const std::int64_t elements = output_elements(operation, shape, operation.formats.front().a);
  std::vector<Expected> values(rows.size() * static_cast<std::size_t>(length));
  // A single row stays on this thread, because the reference of a long row uses all threads.
#pragma omp parallel for schedule(dynamic) if (rows.size() > 1)
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto count = static_cast<std::size_t>(length_of(rows[i], length, elements));
    operation.reference(shape, rows[i], views,
                        std::span(values).subspan(i * static_cast<std::size_t>(length), count));
  }
  return values_.emplace(key, std::move(values)).first->second;
}

double tolerance(const Implementation& implementation, const Shape& shape, Format output,
                 Expected expected) {
  return tolerance_of(implementation.technique, implementation.operation->reduction(shape), output,
                      expected);
}

View read_rows(DeviceMemory& memory, const Implementation& implementation, const Shape& shape,
               std::span<const std::int64_t> rows, void* output, HostBuffer& copy) {
  const Operand operand = implementation.operation->operands(shape, implementation.format).back();
  const std::int64_t length = implementation.operation->row_length(shape);
  const std::int64_t size = info(operand.format).storage_bytes;
  std::vector<DeviceMemory::Region> regions;
  for (const std::int64_t row : rows) {
    std::byte* const first = static_cast<std::byte*>(output) + row * length * size;
    const auto bytes = static_cast<std::size_t>(length_of(row, length, operand.elements) * size);
    if (!regions.empty() && regions.back().data() + regions.back().size() == first) {
      regions.back() = {regions.back().data(), regions.back().size() + bytes};  // adjacent
    } else {
      regions.emplace_back(first, bytes);
    }
  }
  return {memory.on_host(regions, copy), operand.format};
}

Verification compare(const Implementation& implementation, const Shape& shape, View output,
                     std::span<const std::int64_t> rows, std::span<const Expected> expected) {
  const Operation& operation = *implementation.operation;
  const std::int64_t length = operation.row_length(shape);
  const std::int64_t elements = output_elements(operation, shape, implementation.format.a);
  const double terms = operation.reduction(shape);
  // Only the operation's last row may be short, and it is the last of `rows`.
  const std::int64_t checked =
      (std::ssize(rows) - 1) * length + length_of(rows.back(), length, elements);
  std::vector<Largest> blocks(static_cast<std::size_t>((checked + kBlock - 1) / kBlock));
#pragma omp parallel for if (blocks.size() > 1)
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::int64_t first = static_cast<std::int64_t>(b) * kBlock;
    std::array<double, kBlock> storage;
    const auto values =
        std::span(storage).first(static_cast<std::size_t>(std::min(kBlock, checked - first)));
    output.read(first, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Expected& e = expected[static_cast<std::size_t>(first) + i];
      // rounded() overflows as a correct kernel does, so an output that overflowed may be exact.
      const bool exact = values[i] == rounded(e.value, output.format);
      const double error = exact ? 0 : std::abs(values[i] - e.value);
      blocks[b].add(error, tolerance_of(implementation.technique, terms, output.format, e), exact);
    }
  }
  Largest all;
  for (const Largest& block : blocks) all.add(block.result);
  return all.result;
}

}  // namespace ridgebench
