// A decode step: its memory and its FLOPs against closed forms, its layer against plain loops, and
// the models that it refuses.
#include "harness/step/decode_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "harness/device/cpu/device.hpp"
#include "harness/step/any_step.hpp"
#include "harness/step/chain.hpp"
#include "kernels/common/error.hpp"
#include "tests/harness/step/run_through.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

DecodeStep small_decode(std::int64_t layers) {
  return {.model = "small",
          .model_layers = 4,
          .layers = layers,
          .batch = 3,
          .context = 37,
          .width = 24,
          .heads = 6,
          .kv_heads = 2,
          .head_dim = 8,
          .network_width = 40,
          .format = Format::fp32};
}

StepRecord two_of_six_layers() {
  StepRecord record;
  record.step = StepKind::decode;
  record.layers = 2;
  record.model_layers = 6;
  record.batch = 3;
  record.time_s = 0.5;
  record.sum_of_operations_s = 0.4;
  StepPart part;
  part.name = "attention";
  part.time_s = 0.1;
  record.parts = {part};
  return record;
}

TEST(DecodeStep, TheTimeOfTheModelIsScaledUnlessCachesServeTheLayers) {
  StepRecord record = two_of_six_layers();
  derive_rates(record);
  EXPECT_DOUBLE_EQ(record.tokens_per_s.value(), 6);
  EXPECT_DOUBLE_EQ(record.model_time_s.value(), 1.5);
  EXPECT_DOUBLE_EQ(record.model_tokens_per_s.value(), 2);
  EXPECT_DOUBLE_EQ(record.attention_share.value(), 0.25);
  StepRecord cached = two_of_six_layers();
  cached.flags = {"served_by_cache"};
  derive_rates(cached);
  EXPECT_TRUE(cached.tokens_per_s && !cached.model_time_s && !cached.model_tokens_per_s);
}

// Two products of 0.1 s each, by themselves, with these least times, in a step of 0.5 s.
StepRecord with_products(std::optional<double> first_s, double second_s) {
  StepRecord record = two_of_six_layers();
  for (const auto roof_s : {first_s, std::optional(second_s)}) {
    StepPart part;
    part.operation = record.parts.size() == 1 ? "matmul" : "matvec";
    part.time_s = 0.1;
    part.roof_s = roof_s;
    record.parts.push_back(part);
  }
  return record;
}

TEST(DecodeStep, IsAboveItsRoofsIfItsProductsAre) {
  EXPECT_FALSE(above_roofs(with_products(0.1, 0.1)));
  EXPECT_FALSE(above_roofs(with_products(0.11, 0.1)));
  EXPECT_TRUE(above_roofs(with_products(0.13, 0.1)));
  EXPECT_FALSE(above_roofs(with_products(std::nullopt, 1))) << "a roof is unknown";
  StepRecord fast = with_products(0.1, 0.1);
  fast.time_s = 0.15;  // within the step, the products take less time than by themselves
  EXPECT_TRUE(above_roofs(fast));
}

// The peak in tensors of a layer: the formula of docs/step.md.
std::int64_t closed_form(const DecodeStep& step) {
  const auto bytes = [&](std::int64_t elements, std::int64_t size) {
    return (elements * size + 255) / 256 * 256;
  };
  const std::int64_t size = info(step.format).storage_bytes;
  const std::int64_t keys = step.kv_heads * step.head_dim;
  const std::int64_t queries = step.heads * step.head_dim;
  const std::int64_t weights = 2 * bytes(step.width, size) + 2 * bytes(step.width * queries, size) +
                               2 * bytes(step.width * keys, size) +
                               3 * bytes(step.width * step.network_width, size);
  const std::int64_t cache = 2 * bytes(step.batch * keys * step.context, size);
  const std::int64_t u = bytes(step.batch * step.width, size);
  const std::int64_t q = bytes(step.batch * queries, size);
  const std::int64_t f = bytes(step.batch * step.network_width, size);
  const std::int64_t e = step.layers > 1 ? u : 0;
  return step.layers * (weights + cache + 2 * bytes(step.batch * keys, size)) + u +
         bytes(step.batch * step.head_dim, 4) +
         std::max({e + u + q, e + 2 * q, 2 * u + 2 * f, u + 3 * f, 3 * u});
}

TEST(DecodeStep, TheLaunchesAndTheirPeakAreTheClosedForm) {
  for (std::int64_t layers = 1; layers <= 4; ++layers) {
    for (const std::int64_t width : {8, 600}) {
      for (const std::int64_t head_dim : {8, 300}) {
        for (const std::int64_t network : {8, 700}) {
          for (const Format format : {Format::fp32, Format::bf16}) {
            DecodeStep step = small_decode(layers);
            step.width = width;
            step.head_dim = head_dim;
            step.network_width = network;
            step.format = format;
            check(step);
            const StepProgram program = decode_program(step);
            const Arena arena = run_through(program);
            EXPECT_EQ(predicted_live_bytes(step), live_at_launches(program));
            EXPECT_EQ(predicted_peak_bytes(step), closed_form(step));
            EXPECT_EQ(arena.peak_bytes(), predicted_peak_bytes(step))
                << layers << " layers of " << width << ", heads of " << head_dim << ", network of "
                << network;
            const std::int64_t activations =
                arena.live().contains("activations") ? arena.live().at("activations") : 0;
            EXPECT_EQ(activations, 0);
          }
        }
      }
    }
  }
}

TEST(DecodeStep, ExecutesTheFlopsOfItsFormula) {
  const DecodeStep step = small_decode(3);
  const StepProgram program = decode_program(step);
  double flops = 0;
  for (const StepLaunch& launch : program.launches()) {
    const Shape& s = launch.shape;
    const auto size = [&](const char* name) { return static_cast<double>(s[name]); };
    if (launch.operation == "matmul") flops += 2 * size("m") * size("n") * size("k");
    if (launch.operation == "attention_decode") {
      flops += 4 * size("b") * size("h") * size("s") * size("d");
    }
  }
  EXPECT_EQ(flops, step.model_flops());
  EXPECT_EQ(program.count("attention_decode"), 3);
  EXPECT_EQ(program.count("matmul"), 7 * 3);
  EXPECT_EQ(program.launches().size(), 15U * 3);
}

TEST(DecodeStep, RefusesWhatItCannotRun) {
  const auto refused = [](auto change, const char* why) {
    DecodeStep step = small_decode(2);
    change(step);
    EXPECT_THAT([&] { check(step); }, ThrowsMessage<UsageError>(HasSubstr(why)));
  };
  refused([](DecodeStep& s) { s.layers = 5; }, "--layers 5; allowed: 1 to 4, the layers of small");
  refused([](DecodeStep& s) { s.layers = 0; }, "--layers 0");
  refused([](DecodeStep& s) { s.context = 0; }, "--context 0; allowed");
  refused([](DecodeStep& s) { s.batch = s.context = std::int64_t{1} << 40U; },
          "too large together");
  refused([](DecodeStep& s) { s.context = std::int64_t{1} << 52U; }, "too large together");
  refused([](DecodeStep& s) { s.format = Format::fp8_e4m3; }, "no fp8; allowed: bf16, fp16, fp32");
  refused([](DecodeStep& s) { s.head_dim = 7; }, "head_dim is 7");
  refused([](DecodeStep& s) { s.kv_heads = 4; }, "num_key_value_heads is 4");
  refused([](DecodeStep& s) { s.layers = s.model_layers = 10000; }, "150000 launches");
}

std::string config_with(const std::string& more, const char* type = "llama") {
  return std::string(R"({"model_type": ")") + type +
         R"(", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
             "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100)" +
         more + "}";
}

TEST(DecodeStep, TakesTheSizesOfAConfig) {
  const DecodeStep step =
      decode_step(parse_transformer(config_with(R"(, "head_dim": 32, "rope_theta": 1e6)"), "c"));
  EXPECT_EQ(step.width, 64);
  EXPECT_EQ(step.heads, 4);
  EXPECT_EQ(step.kv_heads, 2);
  EXPECT_EQ(step.head_dim, 32);
  EXPECT_EQ(step.network_width, 96);
  EXPECT_EQ(step.model_layers, 2);
  EXPECT_NO_THROW(static_cast<void>(
      decode_step(parse_transformer(config_with(R"(, "sliding_window": null)", "mistral"), "c"))));
}

TEST(DecodeStep, RefusesLayersOfAnotherKindByTheirKey) {
  const auto refused = [](const std::string& text, const char* key, const char* allowed) {
    const Transformer model = parse_transformer(text, "c");
    EXPECT_THAT([&] { static_cast<void>(decode_step(model)); },
                ThrowsMessage<UsageError>(::testing::AllOf(HasSubstr(key), HasSubstr(allowed))));
  };
  refused(config_with(R"(, "hidden_act": "gelu_pytorch_tanh")"), "hidden_act", "allowed: silu");
  refused(config_with(R"(, "attention_bias": true)"), "attention_bias is true", "allowed: false");
  refused(config_with(R"(, "mlp_bias": true)"), "mlp_bias is true", "allowed: false");
  refused(config_with(R"(, "partial_rotary_factor": 0.5)"), "partial_rotary_factor", "allowed: 1");
  refused(config_with(R"(, "rope_parameters": {"partial_rotary_factor": 0.5})"),
          "partial_rotary_factor is 0.5", "allowed: 1");
  refused(config_with(R"(, "sliding_window": 16)", "mistral"), "sliding_window is 16",
          "allowed: null");
  refused(config_with(R"(, "num_local_experts": 4, "num_experts_per_tok": 2)", "mixtral"),
          "num_local_experts is 4", "without a mixture of experts");
  refused(config_with(R"(, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8,
                          "v_head_dim": 16)",
                      "deepseek_v3"),
          "kv_lora_rank is 16", "without latent vectors");
  refused(config_with("", "qwen2"), "model_type is qwen2: its layers have biases",
          "allowed: llama, mistral, phi3");
  refused(config_with("", "qwen3"), "a norm of each query and key", "allowed: llama");
  refused(config_with("", "gpt2"), "LayerNorm", "allowed: llama");
  refused(config_with(R"(, "quantization_config": {"quant_method": "fp8"})"), "quantization_config",
          "allowed: a config without it");
}

using Numbers = std::vector<double>;

// The tensors of a chain in double precision, by name.
class Read {
 public:
  explicit Read(const Chain& chain) : chain_(chain) {}

  Numbers operator()(const std::string& name) const {
    const auto& tensors = chain_.program().tensors();
    for (TensorId id = 0; id < tensors.size(); ++id) {
      if (tensors[id].name != name) continue;
      const auto* const data = static_cast<const float*>(chain_.data(id));
      return Numbers(data, data + tensors[id].elements);
    }
    ADD_FAILURE() << "no tensor " << name;
    return {};
  }

 private:
  const Chain& chain_;
};

// x W^T for rows of x.
Numbers product(const Numbers& x, const Numbers& w, std::size_t rows) {
  const std::size_t inputs = x.size() / rows;
  const std::size_t outputs = w.size() / inputs;
  Numbers y(rows * outputs);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < outputs; ++j) {
      for (std::size_t k = 0; k < inputs; ++k)
        y[i * outputs + j] += x[i * inputs + k] * w[j * inputs + k];
    }
  }
  return y;
}

Numbers normed(const Numbers& x, const Numbers& w) {
  Numbers y(x.size());
  for (std::size_t row = 0; row < x.size(); row += w.size()) {
    double squares = 0;
    for (std::size_t i = 0; i < w.size(); ++i) squares += x[row + i] * x[row + i];
    const double root = std::sqrt(squares / static_cast<double>(w.size()) + 1e-5);
    for (std::size_t i = 0; i < w.size(); ++i) y[row + i] = x[row + i] * w[i] / root;
  }
  return y;
}

// Turns the halves of each head by the angles of its sequence: d / 2 cosines, then as many sines.
Numbers turned(const Numbers& x, const Numbers& angles, std::size_t heads, std::size_t d) {
  Numbers y(x.size());
  for (std::size_t head = 0; head < x.size() / d; ++head) {
    const double* const angle = &angles[head / heads * d];
    const double* const in = &x[head * d];
    for (std::size_t i = 0; i < d / 2; ++i) {
      y[head * d + i] = in[i] * angle[i] - in[i + d / 2] * angle[i + d / 2];
      y[head * d + i + d / 2] = in[i + d / 2] * angle[i] + in[i] * angle[i + d / 2];
    }
  }
  return y;
}

// Attention of each query head to the head of the cache that its group shares.
Numbers attended(const Numbers& q, const Numbers& keys, const Numbers& values,
                 const DecodeStep& step) {
  const auto d = static_cast<std::size_t>(step.head_dim);
  const auto tokens = static_cast<std::size_t>(step.context);
  const auto group = static_cast<std::size_t>(step.heads / step.kv_heads);
  Numbers out(q.size());
  for (std::size_t head = 0; head < q.size() / d; ++head) {
    const std::size_t cache = head / group * tokens * d;
    Numbers weights(tokens);
    double sum = 0;
    for (std::size_t t = 0; t < tokens; ++t) {
      double score = 0;
      for (std::size_t i = 0; i < d; ++i) score += q[head * d + i] * keys[cache + t * d + i];
      weights[t] = std::exp(score / std::sqrt(static_cast<double>(d)));
      sum += weights[t];
    }
    for (std::size_t t = 0; t < tokens; ++t) {
      for (std::size_t i = 0; i < d; ++i) {
        out[head * d + i] += weights[t] / sum * values[cache + t * d + i];
      }
    }
  }
  return out;
}

Numbers added(Numbers x, const Numbers& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  return x;
}

class DecodeOnHost : public RegistryTest {
 protected:
  CpuDevice device_;
};

// Each launch is right on what it meets; that all of them together are the layers of a model shows
// in the output only.
TEST_F(DecodeOnHost, LayersAreThoseOfAModel) {
  const DecodeStep step = small_decode(2);
  Chain chain(device_, decode_program(step), {.named = {{"matmul", "naive"}}}, 5);
  const ChainCheck found = chain.check(1);
  EXPECT_TRUE(found.passed()) << found.wrong;
  EXPECT_EQ(found.tensors, 30);
  const Read read(chain);
  const auto rows = static_cast<std::size_t>(step.batch);
  const auto d = static_cast<std::size_t>(step.head_dim);
  Numbers x = read("x");
  for (const char* const l : {"1", "2"}) {
    const auto of_layer = [&](const char* name) { return read(std::string(name) + l); };
    const Numbers y = normed(x, of_layer("attention norm"));
    const Numbers q = turned(product(y, of_layer("Wq"), rows), read("angles"), 6, d);
    const Numbers o = attended(q, of_layer("K"), of_layer("V"), step);
    x = added(x, product(o, of_layer("Wo"), rows));
    const Numbers z = normed(x, of_layer("network norm"));
    Numbers h = product(z, of_layer("Wgate"), rows);
    const Numbers up = product(z, of_layer("Wup"), rows);
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = h[i] / (1 + std::exp(-h[i])) * up[i];
    x = added(x, product(h, of_layer("Wdown"), rows));
  }
  const auto& tensors = chain.program().tensors();
  const TensorId last = chain.program().launches().back().operands.back().second;
  ASSERT_EQ(tensors[last].kind, "output");
  const auto* const output = static_cast<const float*>(chain.data(last));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(output[i], x[i], 1e-4) << i;
}

// Products of one sequence are matrix-vector products, with the FLOPs and the bytes of the others.
TEST_F(DecodeOnHost, ProductsOfOneSequenceReadTheirWeightsInOrder) {
  DecodeStep step = small_decode(2);
  step.batch = 1;
  const StepProgram program = decode_program(step);
  EXPECT_EQ(program.count("matmul"), 0);
  EXPECT_EQ(program.count("matvec"), 14);
  double flops = 0;
  for (const StepLaunch& launch : program.launches()) {
    if (launch.operation != "matvec") continue;
    flops += 2 * static_cast<double>(launch.shape["m"]) * static_cast<double>(launch.shape["n"]);
  }
  EXPECT_EQ(flops, 2 * step.parameters());
  EXPECT_EQ(place(program).peak_bytes, predicted_peak_bytes(step));
  for (const bool library : {false, true}) {
    Chain chain(device_, program, {.library = library}, 5);
    const ChainCheck found = chain.check(1);
    EXPECT_TRUE(found.passed()) << found.wrong;
    for (std::size_t i = 0; i < program.launches().size(); ++i) {
      if (program.launches()[i].operation != "matvec" || library) continue;
      EXPECT_EQ(chain.implementation(i).technique.name, "row_by_row");
    }
  }
}

TEST_F(DecodeOnHost, BackToBackTheBitsAreThoseOfTheCheckedLaunches) {
  for (const Format format : {Format::bf16, Format::fp16, Format::fp32}) {
    DecodeStep step = small_decode(3);
    step.format = format;
    Chain chain(device_, decode_program(step), {}, 5);
    const ChainCheck found = chain.check(1);
    EXPECT_TRUE(found.passed()) << found.wrong;
    const std::uint64_t bits = chain.checksum("output");
    chain.fill();
    static_cast<void>(device_.time_once(chain.launches()));
    EXPECT_EQ(chain.checksum("output"), bits);
  }
}

}  // namespace
}  // namespace ridgebench
