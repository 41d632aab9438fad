#include "kernels/common/cpu/onednn.hpp"

#include "kernels/common/error.hpp"

#ifdef RIDGEBENCH_ONEDNN
#include <fmt/format.h>
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <utility>
#endif

namespace ridgebench {

#ifdef RIDGEBENCH_ONEDNN

namespace {

using dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory::desc describe(const memory::dims& sizes, Format format, const memory::dims& strides) {
  if (format != Format::fp32 && format != Format::bf16) {
    throw Unsupported("oneDNN is asked for fp32 and bf16 only");
  }
  const auto type = format == Format::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
  return {sizes, type, strides};
}

// The C++ interface dropped its operation descriptors in version 3.
dnnl::eltwise_forward make_eltwise(dnnl::algorithm function, const memory::desc& x) {
  constexpr auto kInference = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::eltwise_forward({engine(), kInference, function, x, x, 0.0F, 0.0F});
#else
  return dnnl::eltwise_forward({{kInference, function, x, 0.0F, 0.0F}, engine()});
#endif
}

dnnl::matmul make_matmul(const memory::desc& a, const memory::desc& b, const memory::desc* bias,
                         const memory::desc& c) {
  dnnl::primitive_attr attributes;
  dnnl::post_ops after;
  constexpr auto kGelu = dnnl::algorithm::eltwise_gelu_tanh;
#if DNNL_VERSION_MAJOR >= 3
  if (bias == nullptr) return dnnl::matmul({engine(), a, b, c});
  after.append_eltwise(kGelu, 0.0F, 0.0F);
  attributes.set_post_ops(after);
  return dnnl::matmul({engine(), a, b, *bias, c, attributes});
#else
  if (bias == nullptr) return dnnl::matmul({{a, b, c}, engine()});
  after.append_eltwise(1.0F, kGelu, 0.0F, 0.0F);
  attributes.set_post_ops(after);
  return dnnl::matmul({{a, b, *bias, c}, attributes, engine()});
#endif
}

}  // namespace

class OneDnnPrimitive {
 public:
  struct Argument {
    int index;  // DNNL_ARG_...
    memory::desc layout;
  };

  OneDnnPrimitive(dnnl::primitive primitive, std::vector<Argument> arguments)
      : primitive_(std::move(primitive)), arguments_(std::move(arguments)) {}

  [[nodiscard]] Launch bind(int threads, const std::vector<const void*>& operands) const {
    std::unordered_map<int, memory> bound;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      // The library takes inputs, too, as void*.
      void* const data = const_cast<void*>(operands.at(i));  // NOLINT(*-const-cast)
      bound.emplace(arguments_[i].index, memory(arguments_[i].layout, engine(), data));
    }
    return [primitive = primitive_, bound, threads, stream = dnnl::stream(engine())]() mutable {
      omp_set_num_threads(threads);
      primitive.execute(stream, bound);
      stream.wait();
    };
  }

 private:
  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;
};

namespace {

using Argument = OneDnnPrimitive::Argument;

// Creates with the queue's threads; the library's refusal becomes Unsupported.
template <class Create>
OneDnnPlan plan(const Queue& queue, std::vector<Argument> arguments, const Create& create) {
  omp_set_num_threads(queue.threads());
  try {
    return std::make_shared<const OneDnnPrimitive>(create(), std::move(arguments));
  } catch (const dnnl::error& error) {
    throw Unsupported(fmt::format("oneDNN: {}", error.what()));
  }
}

// oneDNN 2.6.3 dies of an illegal instruction in bf16 on a processor with AMX at 33 x 65 x 63, in a
// program of its own too; other shapes that leave parts of tiles over ran. Which ones die is not
// known, and a dead process takes the run with it.
void require_whole_amx_tiles(Format format, const Shape& s) {
  constexpr int amx = static_cast<int>(dnnl::cpu_isa::avx512_core_amx);
  constexpr std::int64_t rows = 16;
  constexpr std::int64_t depth = 32;
  const bool used =
      format == Format::bf16 && (static_cast<int>(dnnl::get_effective_cpu_isa()) & amx) == amx;
  if (used && (s["m"] % rows != 0 || s["n"] % rows != 0 || s["k"] % depth != 0)) {
    throw Unsupported("oneDNN's AMX product is called with whole tiles only");
  }
}

OneDnnPlan plan_product(const Queue& queue, Format format, const Shape& s, bool gelu) {
  require_whole_amx_tiles(format, s);
  const memory::dim m = s["m"];
  const memory::dim n = s["n"];
  const memory::dim k = s["k"];
  const bool a_transposed = s.layout() == Layout::tn;
  const bool b_transposed = s.layout() == Layout::nt;
  const auto a = describe({m, k}, format, a_transposed ? memory::dims{1, m} : memory::dims{k, 1});
  const auto b = describe({k, n}, format, b_transposed ? memory::dims{1, k} : memory::dims{n, 1});
  const auto bias = describe({1, n}, format, {n, 1});
  const auto c = describe({m, n}, format, {n, 1});
  std::vector<Argument> arguments{{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}};
  if (gelu) arguments.push_back({DNNL_ARG_BIAS, bias});
  arguments.push_back({DNNL_ARG_DST, c});
  return plan(queue, std::move(arguments),
              [&] { return make_matmul(a, b, gelu ? &bias : nullptr, c); });
}

}  // namespace

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

OneDnnPlan plan_onednn_eltwise(Queue& queue, Eltwise function, Format format, const Shape& shape) {
  const auto x = describe({shape["n"]}, format, {1});
  const auto algorithm = function == Eltwise::relu ? dnnl::algorithm::eltwise_relu
                                                   : dnnl::algorithm::eltwise_gelu_tanh;
  return plan(queue, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, x}},
              [&] { return make_eltwise(algorithm, x); });
}

OneDnnPlan plan_onednn_matvec(Queue& queue, Format format, const Shape& shape) {
  const memory::dim m = shape["m"];
  const memory::dim n = shape["n"];
  const auto a = describe({m, n}, format, {n, 1});
  const auto x = describe({n, 1}, format, {1, 1});
  const auto y = describe({m, 1}, format, {1, 1});
  return plan(queue, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, x}, {DNNL_ARG_DST, y}},
              [&] { return make_matmul(a, x, nullptr, y); });
}

OneDnnPlan plan_onednn_matmul(Queue& queue, Format format, const Shape& shape) {
  return plan_product(queue, format, shape, false);
}

OneDnnPlan plan_onednn_matmul_gelu(Queue& queue, Format format, const Shape& shape) {
  return plan_product(queue, format, shape, true);
}

Launch bind_onednn(Queue& queue, const OneDnnPlan& plan, const std::vector<const void*>& operands) {
  return plan->bind(queue.threads(), operands);
}

#else

class OneDnnPrimitive {};

namespace {
[[noreturn]] void no_onednn() { throw Unsupported("built without oneDNN"); }
}  // namespace

std::string onednn_version() { return {}; }
OneDnnPlan plan_onednn_eltwise(Queue& /*queue*/, Eltwise /*function*/, Format /*format*/,
                               const Shape& /*shape*/) {
  no_onednn();
}
OneDnnPlan plan_onednn_matvec(Queue& /*queue*/, Format /*format*/, const Shape& /*shape*/) {
  no_onednn();
}
OneDnnPlan plan_onednn_matmul(Queue& /*queue*/, Format /*format*/, const Shape& /*shape*/) {
  no_onednn();
}
OneDnnPlan plan_onednn_matmul_gelu(Queue& /*queue*/, Format /*format*/, const Shape& /*shape*/) {
  no_onednn();
}
Launch bind_onednn(Queue& /*queue*/, const OneDnnPlan& /*plan*/,
                   const std::vector<const void*>& /*operands*/) {
  no_onednn();
}

#endif

Technique onednn_product(std::string_view operation, [[maybe_unused]] Format format) {
  Technique technique{
      .operation = operation, .name = "onednn", .engine = Engine::fma, .origin = Origin::library};
#ifdef RIDGEBENCH_ONEDNN
  const auto has = [isa = static_cast<int>(dnnl::get_effective_cpu_isa())](dnnl::cpu_isa set) {
    return (isa & static_cast<int>(set)) == static_cast<int>(set);  // newer sets contain older ones
  };
  if (format == Format::bf16) {
    const bool pairs = has(dnnl::cpu_isa::avx512_core_bf16);
    technique.arithmetic = pairs ? Format::bf16 : Format::fp32;
    if (has(dnnl::cpu_isa::avx512_core_amx)) technique.engine = Engine::tensor;
  }
#endif
  return technique;
}

}  // namespace ridgebench
