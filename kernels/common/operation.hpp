// An operation: its operands, its reference, and its FLOPs. Everything else about it (bytes,
// intensity, buffers, tolerance, ceiling) is derived from this by the harness.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/format.hpp"
#include "kernels/common/machine.hpp"
#include "kernels/common/random.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {

// `updated`: read and then written in the same place.
enum class Access : std::uint8_t { read, written, updated };

// Rows of an operand that do not follow each other: from each multiple of `stride` on, `length`
// elements belong to a row, and no launch touches the others. stride 0: no such others exist.
struct Rows {
  std::int64_t length = 0;
  std::int64_t stride = 0;
};

struct Operand {
  std::string name;
  std::int64_t elements;  // in memory, a multiple of rows.stride; one may hold several numbers
  Format format;
  Access access = Access::read;
  Values values = {};  // of an operand that is read
  // Elements of an input that one row of the outputs reads: row r those from r * by_row on. 0: each
  // row may read any of them.
  std::int64_t by_row = 0;
  Rows rows = {};
  // Elements of an input that no launch needs, such as the weights of a group without rows.
  std::int64_t unread = 0;

  // In memory.
  [[nodiscard]] double bytes() const {
    return static_cast<double>(elements) * info(format).storage_bytes;
  }
  // Elements that a launch needs to read or write.
  [[nodiscard]] std::int64_t used_elements() const {
    return (rows.stride == 0 ? elements : elements / rows.stride * rows.length) - unread;
  }
  [[nodiscard]] double used_bytes() const {
    return static_cast<double>(used_elements()) * info(format).storage_bytes;
  }
  // An operand that is updated in place is in both.
  [[nodiscard]] bool is_input() const { return access != Access::written; }
  [[nodiscard]] bool is_output() const { return access != Access::read; }
};

// Read-only view of an operand in host memory, as numbers, of which an element may hold several.
struct View {
  const void* data;
  Format format;

  [[nodiscard]] double operator[](std::int64_t index) const;
  // Numbers first .. first + out.size() - 1; much faster than one by one.
  void read(std::int64_t first, std::span<double> out) const;
  // The numbers from `first` on, the first of an element.
  [[nodiscard]] View from(std::int64_t first) const;
};

// One output element by the reference: its value and the 2-norm of the terms whose sum it is. A
// technique's rounding error grows with that norm, so the tolerance does too.
struct Expected {
  double value;
  double norm;
};

// quick: one size per technique; standard and full: more sizes. lecture: one format, and sizes on
// both sides of the ridge.
enum class Profile : std::uint8_t { quick, standard, full, lecture };
constexpr auto names_of(Profile) {
  return enum_names("profile", "quick", "standard", "full", "lecture");
}
constexpr bool at_least_standard(Profile profile) {
  return profile == Profile::standard || profile == Profile::full;
}

// Naive techniques get sizes that they can finish.
enum class Pace : std::uint8_t { naive, fast };

// The resource that a ceiling saturates. Kernels have none. `narrow` and `widen` are the
// conversions from fp32 to a narrow format and back. `latency` is not a rate: it bounds accesses
// that wait for each other, `accesses` of the shape. `link` is that between a host and a GPU.
enum class Resource : std::uint8_t {
  memory,
  cache,
  fma,
  tensor,
  sfu,
  launch,
  narrow,
  widen,
  latency,
  link
};
constexpr auto names_of(Resource) {
  return enum_names("resource", "memory", "cache", "fma", "tensor", "sfu", "launch", "narrow",
                    "widen", "latency", "link");
}

// The unit that does the arithmetic; memory: almost no arithmetic.
enum class Engine : std::uint8_t { memory, fma, tensor, sfu };
constexpr auto names_of(Engine) { return enum_names("engine", "memory", "fma", "tensor", "sfu"); }

struct Ceiling {
  Resource resource;
  int cache_level = 0;  // 1.. for Resource::cache
  // Maximum work of one unit of the machine per clock cycle, in bytes for memory and caches, else
  // in FLOPs; 0 if unknown. Null: the data sheet has it, or it is unknown.
  double (*most_per_clock)(const Machine&, FormatPair) = nullptr;
  // One of a sweep that characterises its resource: its rate is not a roof, no kernel needs it, and
  // the run does not repeat it as a control.
  bool sweep = false;
};

// A dimension that a shape may state after the others. A shape that states none, or the usual size,
// is the plain problem, which every technique serves.
struct OptionalDimension {
  std::string name;
  std::function<std::int64_t(const Shape&)> usual;
};

struct Operation {
  std::string name;
  // Names of the dimensions in order; a shape text with one number sets all of up to three.
  std::vector<std::string> dimensions;
  std::vector<OptionalDimension> optional_dimensions = {};
  bool has_layout = false;
  // An operation that a training or decoding step needs besides matmul, relu and gelu. A profile
  // leaves it out unless the user names it.
  bool of_step = false;
  // Numbers that the operation needs besides sizes and operands, with their defaults. A shape has
  // each of them, and its text can state another value: `m:8/n:8/eps:1e-6`.
  std::vector<Shape::Attribute> attributes = {};
  std::vector<FormatPair> formats;
  // The fastest engine that may do the arithmetic: tensor engines multiply matrices only.
  Engine engine = Engine::fma;

  // FLOPs (FMA = 2) by the lecture's conventions.
  std::function<double(const Shape&)> flops;
  // All operands in the order of bind's pointers. One at least is written or updated.
  std::function<std::vector<Operand>(const Shape&, FormatPair)> operands;
  // Number of elements of the first output that `reference` computes at once. Every further output
  // has the same number of rows: of the same length as the first if it has as many elements, else
  // of one length each.
  std::function<std::int64_t(const Shape&)> row_length;
  // One row of each output, in double, from already rounded inputs. `in` has what is read or
  // updated, as it was before the launch. `out` has the row of the first output (shorter for a
  // last, partial row), then that of the second, and so on.
  std::function<void(const Shape&, std::int64_t row, std::span<const View> in,
                     std::span<Expected> out)>
      reference;
  // Terms per output element: what the accumulation error grows with.
  std::function<double(const Shape&)> reduction;
  // The sweep of a profile, the most informative size first. In the lecture profile the first size
  // is the one that every technique is measured at; empty: the lecture leaves the operation out.
  std::function<std::vector<Shape>(Profile, Pace, const Machine&)> shapes;

  // Results of special functions (exp, tanh) needed; empty means none.
  std::function<double(const Shape&)> special = nullptr;
  std::optional<Ceiling> ceiling = std::nullopt;
  // Why the sizes of a shape do not fit each other, with what is allowed; empty if they do.
  // Null: all sizes fit.
  std::function<std::optional<std::string>(const Shape&)> refuses = nullptr;
  // Bytes moved, where that is not the sum of the operands (a cache ceiling's many passes).
  std::function<double(const Shape&, FormatPair)> traffic = nullptr;
  // Filled in by the registry: name of the file that `--load` took the operation from; empty for
  // those of the program.
  std::string loaded_from = {};
};

// Reads the text form of a shape of the operation, and leaves out optional dimensions of the usual
// size. Throws UsageError, also for sizes that the operation refuses.
Shape parse_shape(std::string_view text, const Operation& operation);

// Reads a format that one of the operations has. Throws UsageError that lists theirs.
FormatPair parse_format(std::string_view text, std::span<const Operation* const> operations);

// The shape whose sizes are all 1, with the defaults of the attributes.
Shape unit_shape(const Operation& operation);

// An output of an operation.
struct Output {
  std::size_t index;  // among the operands
  Operand operand;
  std::int64_t row_length;  // elements of a row of the reference

  // Elements of row `row`: the last one may be short.
  [[nodiscard]] std::int64_t length_of(std::int64_t row) const;
  // Elements in memory from a row to the next.
  [[nodiscard]] std::int64_t row_stride() const {
    return operand.rows.stride == 0 ? row_length : operand.rows.stride;
  }
};

// In the order of the operands. Throws std::logic_error if an output has another number of rows
// than the first, or if its rows in memory have another length than the rows of the reference.
std::vector<Output> outputs_of(const Operation& operation, const Shape& shape, FormatPair format);

// Compulsory bytes: each input read once, each output written once, unless the operation states
// its traffic. An operand that is updated in place counts twice.
double bytes(const Operation& operation, const Shape& shape, FormatPair format);

// Share of those bytes that is written: selects the memory ceiling with the same traffic mix.
double written_fraction(const Operation& operation, const Shape& shape, FormatPair format);

}  // namespace ridgebench
