#include "kernels/common/cpu/onednn.hpp"

#include <cstdlib>

#include "kernels/common/cpu/cpuid.hpp"
#include "kernels/common/error.hpp"

#ifdef RIDGEBENCH_ONEDNN
#include <fmt/format.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include <stdexcept>
#include <utility>

#include "kernels/common/lib/library_folders.hpp"
#include "kernels/common/product_strides.hpp"
#include "kernels/common/shared_library.hpp"
#endif

namespace ridgebench {
namespace {

// The variable that limits the instructions of oneDNN, as "NAME=VALUE": the library reads the first
// that is set. Empty where none is.
std::string isa_limit() {
  for (const std::string name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    if (const char* const value = std::getenv(name.c_str())) return name + "=" + value;
  }
  return {};
}

// The instructions with which oneDNN multiplies bf16. Source: oneDNN, "CPU Dispatcher Control":
// each value of ONEDNN_MAX_CPU_ISA allows what it names and what came before.
struct Bf16Instructions {
  bool amx = false;
  bool pairs = false;  // AVX512_BF16

  Bf16Instructions() {
#if defined(__x86_64__)
    const std::string set = isa_limit();
    const std::string most = set.empty() ? "DEFAULT" : set.substr(set.find('=') + 1);
    const auto allows = [&most](std::string_view part) { return most.find(part) != most.npos; };
    const bool all = allows("DEFAULT") || allows("ALL") || allows("AMX");
    amx = all && cpu::has_bit(cpu::cpuid(7, 0).edx, cpu::kAmxBf16);
    pairs = (all || allows("BF16") || allows("FP16") || allows("AVX10")) &&
            __builtin_cpu_supports("avx512f") != 0 &&
            cpu::has_bit(cpu::cpuid(7, 1).eax, cpu::kAvx512Bf16);
#endif
  }
};

}  // namespace

// Version 2 has no bf16 for processors without AVX-512. On a processor with AMX, 2.6.3 ends the
// process with an illegal instruction for bf16 at 33 x 65 x 63, also in a minimal program; other
// shapes that are no multiples of a tile ran. Which shapes fail is not known.
std::optional<std::string> supports_onednn([[maybe_unused]] const Machine& machine,
                                           [[maybe_unused]] const Shape& s,
                                           [[maybe_unused]] FormatPair format) {
#ifndef RIDGEBENCH_ONEDNN
  return "built without oneDNN";
#else
  constexpr std::int64_t kTileRows = 16;
  constexpr std::int64_t kTileDepth = 32;
  if (format.a != Format::bf16) return std::nullopt;
  if (DNNL_VERSION_MAJOR < 3 && host_isa() < Isa::v4) return "oneDNN 2 needs AVX-512 for bf16";
  if (!s.has_layout() || !Bf16Instructions().amx) return std::nullopt;
  if (s["m"] % kTileRows == 0 && s["n"] % kTileRows == 0 && s["k"] % kTileDepth == 0) return {};
  return "oneDNN's AMX product is called with whole tiles only";
#endif
}

Technique onednn_product(const std::string& operation, Format format) {
  Technique technique{.operation = operation,
                      .name = "onednn",
                      .engine = Engine::fma,
                      .origin = Origin::library,
                      .supports = supports_onednn,
                      .optional_dimensions = true};
  if (format == Format::bf16) {
    const Bf16Instructions instructions;
    technique.arithmetic = instructions.pairs ? Format::bf16 : Format::fp32;
    if (instructions.amx) technique.engine = Engine::tensor;
  }
  return technique;
}

Technique onednn_elementwise(const std::string& operation, Engine engine) {
  return {.operation = operation,
          .name = "onednn",
          .engine = engine,
          .arithmetic = Format::fp32,
          .origin = Origin::library,
          .supports = supports_onednn};
}

#ifdef RIDGEBENCH_ONEDNN

namespace {

const SharedLibrary& onednn_library() {
  static const SharedLibrary loaded(
      LibraryPlaces{.names = {fmt::format("libdnnl.so.{}", DNNL_VERSION_MAJOR)},
                    .folders = python_library_folders(),
                    .needs = {},
                    .advice = fmt::format("oneDNN {} has it (Debian: libdnnl{})",
                                          DNNL_VERSION_MAJOR, DNNL_VERSION_MAJOR)});
  return loaded;
}

RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_version);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_status2str);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_cpu_isa2str);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_get_effective_cpu_isa);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_engine_create);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_engine_destroy);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_stream_create);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_stream_destroy);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_stream_wait);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_memory_create);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_memory_destroy);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_post_ops_create);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_post_ops_destroy);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_post_ops_append_eltwise);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_primitive_attr_create);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_primitive_attr_destroy);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_primitive_attr_set_post_ops);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_primitive_desc_destroy);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_primitive_create);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_primitive_destroy);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_primitive_execute);

struct OneDnnError : std::runtime_error {
  explicit OneDnnError(dnnl_status_t s)
      : std::runtime_error(fmt::format("oneDNN: {}", dnnl_status2str(s))), status(s) {}
  dnnl_status_t status;
};

// Throws OneDnnError.
void check(dnnl_status_t status) {
  if (status != dnnl_success) throw OneDnnError(status);
}

template <class Handle>
using Owned = std::shared_ptr<std::remove_pointer_t<Handle>>;

// The handle that create(&handle) returns, destroyed with its last owner.
template <class Handle, class Create, class Destroy>
Owned<Handle> own(Create create, Destroy destroy) {
  Handle handle = nullptr;
  check(create(&handle));
  return {handle, [destroy](Handle h) { static_cast<void>(destroy(h)); }};
}

dnnl_engine_t engine() {
  static const auto cpu = own<dnnl_engine_t>(
      [](auto* created) { return dnnl_engine_create(created, dnnl_cpu, std::size_t{0}); },
      dnnl_engine_destroy);
  return cpu.get();
}

using Dims = std::vector<dnnl_dim_t>;

// GeLU of a product plus bias, before it is stored.
Owned<dnnl_primitive_attr_t> gelu_attributes() {
  const auto after = own<dnnl_post_ops_t>(
      [](auto* created) { return dnnl_post_ops_create(created); }, dnnl_post_ops_destroy);
  auto attributes =
      own<dnnl_primitive_attr_t>([](auto* created) { return dnnl_primitive_attr_create(created); },
                                 dnnl_primitive_attr_destroy);
#if DNNL_VERSION_MAJOR >= 3
  check(dnnl_post_ops_append_eltwise(after.get(), dnnl_eltwise_gelu_tanh, 0.0F, 0.0F));
#else
  check(dnnl_post_ops_append_eltwise(after.get(), 1.0F, dnnl_eltwise_gelu_tanh, 0.0F, 0.0F));
#endif
  check(dnnl_primitive_attr_set_post_ops(attributes.get(), after.get()));
  return attributes;
}

// Version 3 of the interface creates memory descriptors on the heap and has no operation
// descriptors; version 2 has both as plain structs.
#if DNNL_VERSION_MAJOR >= 3

RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_memory_desc_create_with_strides);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_memory_desc_destroy);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_eltwise_forward_primitive_desc_create);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_eltwise_backward_primitive_desc_create);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_binary_primitive_desc_create);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_matmul_primitive_desc_create);

using MemoryDesc = Owned<dnnl_memory_desc_t>;

MemoryDesc memory_desc(const Dims& sizes, const Dims& strides, dnnl_data_type_t type) {
  return own<dnnl_memory_desc_t>(
      [&](auto* created) {
        return dnnl_memory_desc_create_with_strides(created, static_cast<int>(sizes.size()),
                                                    sizes.data(), type, strides.data());
      },
      dnnl_memory_desc_destroy);
}

dnnl_status_t create_eltwise(dnnl_primitive_desc_t* created, dnnl_prop_kind_t use,
                             dnnl_alg_kind_t function, const MemoryDesc& x) {
  return dnnl_eltwise_forward_primitive_desc_create(created, engine(), use, function, x.get(),
                                                    x.get(), 0.0F, 0.0F, nullptr);
}

dnnl_status_t create_eltwise_backward(dnnl_primitive_desc_t* created, dnnl_alg_kind_t function,
                                      const MemoryDesc& x, dnnl_primitive_desc_t forward) {
  return dnnl_eltwise_backward_primitive_desc_create(created, engine(), function, x.get(), x.get(),
                                                     x.get(), 0.0F, 0.0F, forward, nullptr);
}

dnnl_status_t create_add(dnnl_primitive_desc_t* created, const MemoryDesc& x) {
  return dnnl_binary_primitive_desc_create(created, engine(), dnnl_binary_add, x.get(), x.get(),
                                           x.get(), nullptr);
}

dnnl_status_t create_matmul(dnnl_primitive_desc_t* created, const MemoryDesc& a,
                            const MemoryDesc& b, const MemoryDesc& bias, const MemoryDesc& c,
                            dnnl_primitive_attr_t attributes) {
  return dnnl_matmul_primitive_desc_create(created, engine(), a.get(), b.get(), bias.get(), c.get(),
                                           attributes);
}

#else

RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_memory_desc_init_by_strides);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_eltwise_forward_desc_init);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_eltwise_backward_desc_init);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_binary_desc_init);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_matmul_desc_init);
RIDGEBENCH_LOADED_FUNCTION(onednn_library(), dnnl_primitive_desc_create);

using MemoryDesc = std::shared_ptr<dnnl_memory_desc_t>;

MemoryDesc memory_desc(const Dims& sizes, const Dims& strides, dnnl_data_type_t type) {
  auto created = std::make_shared<dnnl_memory_desc_t>();
  check(dnnl_memory_desc_init_by_strides(created.get(), static_cast<int>(sizes.size()),
                                         sizes.data(), type, strides.data()));
  return created;
}

dnnl_status_t create_eltwise(dnnl_primitive_desc_t* created, dnnl_prop_kind_t use,
                             dnnl_alg_kind_t function, const MemoryDesc& x) {
  dnnl_eltwise_desc_t operation{};
  check(dnnl_eltwise_forward_desc_init(&operation, use, function, x.get(), 0.0F, 0.0F));
  return dnnl_primitive_desc_create(created, &operation, nullptr, engine(), nullptr);
}

dnnl_status_t create_eltwise_backward(dnnl_primitive_desc_t* created, dnnl_alg_kind_t function,
                                      const MemoryDesc& x, dnnl_primitive_desc_t forward) {
  dnnl_eltwise_desc_t operation{};
  check(dnnl_eltwise_backward_desc_init(&operation, function, x.get(), x.get(), 0.0F, 0.0F));
  return dnnl_primitive_desc_create(created, &operation, nullptr, engine(), forward);
}

dnnl_status_t create_add(dnnl_primitive_desc_t* created, const MemoryDesc& x) {
  dnnl_binary_desc_t operation{};
  check(dnnl_binary_desc_init(&operation, dnnl_binary_add, x.get(), x.get(), x.get()));
  return dnnl_primitive_desc_create(created, &operation, nullptr, engine(), nullptr);
}

dnnl_status_t create_matmul(dnnl_primitive_desc_t* created, const MemoryDesc& a,
                            const MemoryDesc& b, const MemoryDesc& bias, const MemoryDesc& c,
                            dnnl_primitive_attr_t attributes) {
  dnnl_matmul_desc_t operation{};
  check(dnnl_matmul_desc_init(&operation, a.get(), b.get(), bias.get(), c.get()));
  return dnnl_primitive_desc_create(created, &operation, attributes, engine(), nullptr);
}

#endif

}  // namespace

class OneDnnPrimitive {
 public:
  struct Argument {
    int index;  // DNNL_ARG_...
    MemoryDesc layout;
  };

  // create(&descriptor) makes the primitive's descriptor.
  template <class Create>
  OneDnnPrimitive(std::vector<Argument> arguments, Create create)
      : arguments_(std::move(arguments)) {
    const auto descriptor = own<dnnl_primitive_desc_t>(create, dnnl_primitive_desc_destroy);
    primitive_ = own<dnnl_primitive_t>(
        [&](auto* created) { return dnnl_primitive_create(created, descriptor.get()); },
        dnnl_primitive_destroy);
  }

  [[nodiscard]] Launch bind(int threads, const std::vector<const void*>& operands) const {
    std::vector<Owned<dnnl_memory_t>> memory;
    std::vector<dnnl_exec_arg_t> bound;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      // The library takes inputs, too, as void*.
      void* const data = const_cast<void*>(operands.at(i));  // NOLINT(*-const-cast)
      memory.push_back(own<dnnl_memory_t>(
          [&](auto* created) {
            return dnnl_memory_create(created, arguments_[i].layout.get(), engine(), data);
          },
          dnnl_memory_destroy));
      bound.push_back({arguments_[i].index, memory.back().get()});
    }
    const auto stream = own<dnnl_stream_t>(
        [](auto* created) {
          return dnnl_stream_create(created, engine(), unsigned{dnnl_stream_default_flags});
        },
        dnnl_stream_destroy);
    return [primitive = primitive_, memory, bound, threads, stream] {
      omp_set_num_threads(threads);
      check(dnnl_primitive_execute(primitive.get(), stream.get(), static_cast<int>(bound.size()),
                                   bound.data()));
      check(dnnl_stream_wait(stream.get()));
    };
  }

 private:
  std::vector<Argument> arguments_;
  Owned<dnnl_primitive_t> primitive_;
};

namespace {

OneDnnPlan plan_eltwise(dnnl_alg_kind_t function, dnnl_data_type_t type, const Shape& s) {
  const MemoryDesc x = memory_desc({s["n"]}, {1}, type);
  return std::make_shared<OneDnnPrimitive>(
      std::vector<OneDnnPrimitive::Argument>{{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, x}},
      [&](auto* created) { return create_eltwise(created, dnnl_forward_inference, function, x); });
}

OneDnnPlan plan_eltwise_backward(dnnl_alg_kind_t function, dnnl_data_type_t type, const Shape& s) {
  const MemoryDesc x = memory_desc({s["n"]}, {1}, type);
  // The library takes layouts from the forward pass.
  const auto forward = own<dnnl_primitive_desc_t>(
      [&](auto* created) { return create_eltwise(created, dnnl_forward_training, function, x); },
      dnnl_primitive_desc_destroy);
  return std::make_shared<OneDnnPrimitive>(
      std::vector<OneDnnPrimitive::Argument>{
          {DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, x}, {DNNL_ARG_DIFF_SRC, x}},
      [&](auto* created) { return create_eltwise_backward(created, function, x, forward.get()); });
}

OneDnnPlan plan_add(dnnl_data_type_t type, const Shape& s) {
  const MemoryDesc x = memory_desc({s["n"]}, {1}, type);
  return std::make_shared<OneDnnPrimitive>(
      std::vector<OneDnnPrimitive::Argument>{
          {DNNL_ARG_SRC_0, x}, {DNNL_ARG_SRC_1, x}, {DNNL_ARG_DST, x}},
      [&](auto* created) { return create_add(created, x); });
}

// C = A B, with GeLU(. + bias[n]) or without.
OneDnnPlan plan_product(const MemoryDesc& a, const MemoryDesc& b, const MemoryDesc& bias,
                        const MemoryDesc& c) {
  const bool gelu = bias != nullptr;
  const auto attributes = gelu ? gelu_attributes() : nullptr;
  std::vector<OneDnnPrimitive::Argument> arguments{{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}};
  if (gelu) arguments.push_back({DNNL_ARG_BIAS, bias});
  arguments.push_back({DNNL_ARG_DST, c});
  return std::make_shared<OneDnnPrimitive>(std::move(arguments), [&](auto* created) {
    return create_matmul(created, a, b, bias, c, attributes.get());
  });
}

// Describes one matrix of these sizes, or each matrix of a batch.
MemoryDesc matrices(const StoredLines& stored, Dims sizes, bool transposed, const Shape& s,
                    dnnl_data_type_t type) {
  Dims strides = transposed ? Dims{1, stored.stride} : Dims{stored.stride, 1};
  if (batch_of(s) > 1) {
    sizes.insert(sizes.begin(), batch_of(s));
    strides.insert(strides.begin(), stored.elements());
  }
  return memory_desc(sizes, strides, type);
}

std::string_view name_of(OneDnn function) {
  switch (function) {
    case OneDnn::relu:
      return "relu";
    case OneDnn::gelu_tanh:
      return "gelu";
    case OneDnn::relu_backward:
      return "relu_backward";
    case OneDnn::add:
      return "add";
    case OneDnn::matvec:
      return "matvec";
    case OneDnn::matmul:
      return "matmul";
    case OneDnn::matmul_gelu:
      return "matmul_gelu";
  }
  return "";
}

OneDnnPlan plan(OneDnn function, dnnl_data_type_t type, const Shape& s) {
  if (function == OneDnn::relu) return plan_eltwise(dnnl_eltwise_relu, type, s);
  if (function == OneDnn::gelu_tanh) return plan_eltwise(dnnl_eltwise_gelu_tanh, type, s);
  if (function == OneDnn::relu_backward) return plan_eltwise_backward(dnnl_eltwise_relu, type, s);
  if (function == OneDnn::add) return plan_add(type, s);
  if (function == OneDnn::matvec) {
    return plan_product(memory_desc({s["m"], s["n"]}, {s["n"], 1}, type),
                        memory_desc({s["n"], 1}, {1, 1}, type), nullptr,
                        memory_desc({s["m"], 1}, {1, 1}, type));
  }
  const std::int64_t m = s["m"];
  const std::int64_t n = s["n"];
  const std::int64_t k = s["k"];
  const MemoryDesc bias =
      function == OneDnn::matmul_gelu ? memory_desc({1, n}, {n, 1}, type) : nullptr;
  return plan_product(matrices(lines_of_a(s), {m, k}, s.layout() == Layout::tn, s, type),
                      matrices(lines_of_b(s), {k, n}, s.layout() == Layout::nt, s, type), bias,
                      matrices(lines_of_c(s), {m, n}, false, s, type));
}

}  // namespace

std::string onednn_version() {
  if (!onednn_library().loaded()) return {};
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

std::string onednn_isa() {
  if (!onednn_library().loaded()) return {};
  return dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa());
}

OneDnnPlan create_onednn(OneDnn function, Queue& queue, Format format, const Shape& shape) {
  omp_set_num_threads(queue.threads());  // the library divides the work when it creates
  try {
    return plan(function, format == Format::bf16 ? dnnl_bf16 : dnnl_f32, shape);
  } catch (const OneDnnError& error) {
    if (error.status != dnnl_unimplemented) throw Unsupported(error.what());
    const std::string limit = isa_limit();
    throw Unsupported(fmt::format("oneDNN {} has no {} in {} on this processor{}{}",
                                  onednn_version(), name_of(function), info(format).name,
                                  limit.empty() ? "" : " under ", limit));
  }
}

Launch execute_onednn(Queue& queue, const OneDnnPlan& plan,
                      const std::vector<const void*>& operands) {
  return plan->bind(queue.threads(), operands);
}

#else

class OneDnnPrimitive {};

std::string onednn_version() { return {}; }
std::string onednn_isa() { return {}; }
OneDnnPlan create_onednn(OneDnn, Queue&, Format, const Shape&) {
  throw Unsupported("built without oneDNN");
}
Launch execute_onednn(Queue&, const OneDnnPlan&, const std::vector<const void*>&) {
  throw Unsupported("built without oneDNN");
}

#endif

}  // namespace ridgebench
