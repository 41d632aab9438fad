#include "kernels/common/registry.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "kernels/common/error.hpp"
#include "tests/support/host_queue.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// y = x in fp32 and bf16.
Operation copy_operation(const std::string& name = "copy") {
  Operation operation;
  operation.name = name;
  operation.dimensions = {"n"};
  operation.formats = {Format::fp32, Format::bf16};
  operation.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"y", s["n"], f.a, Access::written}};
  };
  return operation;
}

template <class In, class Out>
Launch bind(Queue& /*queue*/, const Shape& shape, In* x, Out* y) {
  if constexpr (std::is_assignable_v<Out&, In&>) {
    return [n = shape["n"], x, y] { std::copy_n(x, n, y); };
  } else {
    return [] {};
  }
}

constexpr auto* kFloat = bind<const float, float>;
constexpr auto* kBf16 = bind<const Bf16, Bf16>;

Technique technique(const std::string& name, Isa isa = Isa::none) {
  return {.operation = "copy", .name = name, .engine = Engine::memory, .isa = isa};
}

template <class Bind>
Implementation implementation(const Technique& technique, Bind bind,
                              Backend backend = Backend::cpu) {
  Implementation result = registry_detail::erase(bind);
  result.technique = technique;
  result.backend = backend;
  return result;
}

std::string failure(Registry& registry) {
  try {
    registry.resolve();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "resolved";
}

struct HostQueue : Queue {
  std::shared_ptr<void> allocate(std::size_t /*bytes*/) override { return nullptr; }
  double time(const Launch& /*launch*/) override { return 0; }
};

TEST(Registry, TypesOfPointersGiveTheFormat) {
  Registry registry;
  registry.add(implementation(technique("naive"), kFloat));
  registry.add(implementation(technique("naive"), kBf16));
  registry.add(copy_operation());
  registry.resolve();
  ASSERT_EQ(registry.implementations().size(), 2);
  EXPECT_EQ(registry.implementations()[0]->format, Format::fp32);
  EXPECT_EQ(registry.implementations()[1]->format, Format::bf16);
  for (const auto& i : registry.implementations()) {
    EXPECT_EQ(i->operation, &registry.operation("copy"));
  }
}

TEST(Registry, MixedFormatsAreToldApart) {
  Operation operation = copy_operation();
  const FormatPair forward(Format::fp8_e4m3, Format::fp8_e5m2);
  const FormatPair backward(Format::fp8_e5m2, Format::fp8_e4m3);
  operation.formats = {forward, backward};
  operation.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"y", s["n"], f.b, Access::written}};
  };
  Registry registry;
  registry.add(std::move(operation));
  registry.add(implementation(technique("naive"), bind<const Fp8E5m2, Fp8E4m3>));
  registry.resolve();
  ASSERT_EQ(registry.implementations().size(), 1);
  EXPECT_EQ(registry.implementations()[0]->format, backward);
}

TEST(Registry, ABoundTechniqueRunsOnItsOperands) {
  Registry registry;
  registry.add(copy_operation());
  registry.add(implementation(technique("naive"), kFloat));
  registry.resolve();
  HostQueue queue;
  std::array<float, 3> x{1, 2, 3};
  std::array<float, 3> y{};
  const std::array<void*, 2> operands{x.data(), y.data()};
  registry.implementations()[0]->bind(queue, nullptr, Shape({{"n", 3}}), operands)();
  EXPECT_EQ(y, x);
}

TEST(Registry, AStatePreparedOnceReachesBind) {
  const auto with_state = planned(
      +[](Queue&, const Shape& shape) { return static_cast<float>(shape["n"]); },
      +[](Queue&, const float& state, const Shape&, const float* x, float* y) -> Launch {
        return [state, x, y] { *y = state + *x; };
      });
  Registry registry;
  registry.add(copy_operation());
  registry.add(implementation(technique("planned"), with_state));
  registry.resolve();
  const Implementation& i = *registry.implementations()[0];
  HostQueue queue;
  float x = 2;
  float y = 0;
  const Shape shape({{"n", 40}});
  i.bind(queue, i.prepare(queue, shape), shape, std::array<void*, 2>{&x, &y})();
  EXPECT_EQ(y, 42);
}

struct StateWithTraffic {
  [[nodiscard]] ModelTraffic traffic(const Machine& machine, const Shape& shape,
                                     FormatPair format) const {
    const auto bytes = static_cast<double>(shape["n"] * info(format.a).storage_bytes);
    return {bytes, bytes + machine.units};
  }
};

TEST(Registry, AStateWithAModelSaysWhatItExpects) {
  const auto with_model = planned(
      +[](Queue&, const Shape&) { return StateWithTraffic{}; },
      +[](Queue&, const StateWithTraffic&, const Shape&, const float*, float*) -> Launch {
        return [] {};
      });
  const Implementation modelled = registry_detail::erase(with_model);
  HostQueue queue;
  const Shape shape({{"n", 40}});
  Machine machine;
  machine.units = 3;
  const ModelTraffic expected =
      modelled.traffic(modelled.prepare(queue, shape), machine, shape, Format::fp32);
  EXPECT_EQ(expected.l2_to_sm_bytes, 160);
  EXPECT_EQ(expected.dram_bytes, 163);
  EXPECT_FALSE(registry_detail::erase(kFloat).traffic);
}

TEST(Registry, AListOfTypesRegistersATechniqueForEachType) {
  Registry others = std::exchange(Registry::instance(), Registry());
  const CudaRegistration listed{[]<class T>() {
                                  Technique t = technique("listed");
                                  t.accumulator_bits = sizeof(T);
                                  return t;
                                },
                                Types<float>{} + Types<Bf16>{},
                                []<class T>() { return bind<const T, T>; }};
  Registry added = std::exchange(Registry::instance(), std::move(others));
  added.add(copy_operation());
  added.resolve();
  ASSERT_EQ(added.implementations().size(), 2);
  EXPECT_EQ(added.implementations()[0]->format, Format::fp32);
  EXPECT_EQ(added.implementations()[0]->technique.accumulator_bits, 4);
  EXPECT_EQ(added.implementations()[1]->format, Format::bf16);
  EXPECT_EQ(added.implementations()[1]->technique.accumulator_bits, 2);
  EXPECT_EQ(added.implementations()[1]->backend, Backend::cuda);
}

// Swaps the registry of the program for an empty one while `add` runs; returns what it added.
Registry added_by(const std::function<void()>& add) {
  Registry others = std::exchange(Registry::instance(), Registry());
  add();
  return std::exchange(Registry::instance(), std::move(others));
}

TEST(Registry, ALoopRegistersLambdasThatCaptureUnderNamesThatItMakes) {
  Registry registry = added_by([] {
    RegisterOperation{copy_operation("scaled")};
    for (const float scale : {2.0F, 3.0F}) {
      const std::string name = "a_name_that_is_longer_than_a_small_string_by_";
      Technique t = technique(name + std::to_string(static_cast<int>(scale)));
      t.operation = "scaled";
      const CudaRegistration one(t, [scale](Queue&, const Shape&, const float* x, float* y) {
        return [=] { *y = scale * *x; };
      });
    }
  });
  registry.resolve();
  ASSERT_EQ(registry.implementations().size(), 2);
  EXPECT_TRUE(registry.implementations()[1]->technique.name.ends_with("string_by_3"));
  HostQueue queue;
  float x = 5;
  float y = 0;
  const std::array<void*, 2> operands{&x, &y};
  registry.implementations()[1]->bind(queue, nullptr, Shape({{"n", 1}}), operands)();
  EXPECT_EQ(y, 15);
}

TEST(Registry, AFaultOfALoadedFileIsTheUsers) {
  Registry registry;
  registry.add(copy_operation());
  registry.load_from("libmine.so");
  registry.add(implementation(technique("odd"), bind<const Fp16, Fp16>));
  registry.load_from("");
  EXPECT_THAT([&] { registry.resolve(); },
              ThrowsMessage<UsageError>(HasSubstr("libmine.so: technique copy/odd binds")));
}

TEST(Registry, TheLoadedOfTwoOperationsWithOneNameIsToBlame) {
  Registry registry;
  registry.load_from("libmine.so");
  registry.add(copy_operation());
  registry.load_from("");
  registry.add(copy_operation());
  EXPECT_THAT([&] { registry.resolve(); },
              ThrowsMessage<UsageError>("libmine.so: operation copy is registered twice"));
}

TEST(Registry, AttributesReachEveryShapeOfASweep) {
  Operation operation = copy_operation();
  operation.attributes = {{"eps", 1e-5}};
  operation.shapes = [](Profile, Pace, const Machine&) {
    return std::vector{Shape({{"n", 1}}), Shape({{"n", 1}}, {}, {{"eps", 0.5}})};
  };
  Registry registry;
  registry.add(operation);
  const auto shapes = registry.operations().front()->shapes(Profile::quick, Pace::fast, Machine{});
  EXPECT_EQ(shapes[0].attribute("eps"), 1e-5);
  EXPECT_EQ(shapes[1].attribute("eps"), 0.5) << "the sweep states its own";
  EXPECT_EQ(parse_shape("3", *registry.operations().front()).attribute("eps"), 1e-5);
}

TEST(ParseShape, RefusesSizesThatTheOperationRefuses) {
  Operation operation = copy_operation();
  operation.refuses = [](const Shape& s) -> std::optional<std::string> {
    if (s["n"] % 2 == 0) return std::nullopt;
    return "n is odd; allowed: an even number";
  };
  EXPECT_EQ(parse_shape("4", operation)["n"], 4);
  EXPECT_THAT([&] { (void)parse_shape("3", operation); },
              ThrowsMessage<UsageError>("copy of shape n:3: n is odd; allowed: an even number"));
}

TEST(Registry, AnOperandInPlaceIsWritten) {
  Operation operation = copy_operation();
  operation.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a, Access::updated}};
  };
  const auto resolved = [&](auto bind) {
    Registry registry;
    registry.add(operation);
    registry.add(implementation(technique("in_place"), bind));
    return failure(registry);
  };
  EXPECT_EQ(resolved(+[](Queue&, const Shape&, float*) { return Launch(); }), "resolved");
  EXPECT_THAT(resolved(+[](Queue&, const Shape&, const float*) { return Launch(); }),
              HasSubstr("no format of the operation"));
}

TEST(Registry, RefusesPointersThatFitNoFormat) {
  const std::string message =
      "technique copy/odd binds pointer types that are no format of the operation";
  const auto refusal = [](auto bind) {
    Registry registry;
    registry.add(copy_operation());
    registry.add(implementation(technique("odd"), bind));
    return failure(registry);
  };
  EXPECT_EQ(refusal(bind<const Fp16, Fp16>), message);          // not a format of the operation
  EXPECT_EQ(refusal(bind<const float, Bf16>), message);         // two formats
  EXPECT_EQ(refusal(bind<const Tf32, Tf32>), message);          // tf32 is not fp32
  EXPECT_EQ(refusal(bind<const float, const float>), message);  // the output is written
  EXPECT_EQ(refusal(bind<float, float>), message);              // the input is only read
  EXPECT_EQ(refusal(+[](Queue&, const Shape&, float*) { return Launch(); }), message);
  EXPECT_EQ(refusal(kFloat), "resolved");
}

TEST(Registry, RefusesATechniqueWithoutOperation) {
  Registry registry;
  registry.add(implementation(technique("naive"), kFloat));
  EXPECT_EQ(failure(registry), "technique copy/naive implements an operation that is not there");
}

TEST(Registry, RefusesDuplicates) {
  Registry techniques;
  techniques.add(copy_operation());
  techniques.add(implementation(technique("fast", Isa::v4), kFloat));
  techniques.add(implementation(technique("fast", Isa::v2), kFloat));
  techniques.add(implementation(technique("fast", Isa::v2), kFloat));
  EXPECT_EQ(failure(techniques), "technique copy/fast is registered twice for fp32");

  Registry operations;
  operations.add(copy_operation());
  operations.add(copy_operation());
  EXPECT_EQ(failure(operations), "operation copy is registered twice");
}

TEST(Registry, OneTechniqueMayServeTwoBackends) {
  Registry registry;
  registry.add(copy_operation());
  registry.add(implementation(technique("naive"), kFloat, Backend::cuda));
  registry.add(implementation(technique("naive"), kFloat, Backend::cpu));
  registry.resolve();
  ASSERT_EQ(registry.implementations().size(), 2);
  EXPECT_EQ(registry.implementations()[0]->backend, Backend::cpu);
  EXPECT_EQ(registry.implementations()[1]->backend, Backend::cuda);
}

TEST(Registry, TheNewestInstructionSetOfTheProcessorWins) {
  for (const Isa newest : {Isa::v2, Isa::v3, Isa::v4}) {
    Registry registry;
    registry.add(copy_operation());
    for (const Isa isa : {Isa::v2, Isa::v4, Isa::v3}) {
      registry.add(implementation(technique("fast", isa), kFloat));
    }
    registry.add(implementation(technique("fast", Isa::v2), kBf16));
    registry.resolve(newest);
    ASSERT_EQ(registry.implementations().size(), 2);
    EXPECT_EQ(registry.implementations()[0]->technique.isa, newest);
    EXPECT_EQ(registry.implementations()[1]->technique.isa, Isa::v2);
    EXPECT_FALSE(registry.implementations()[0]->prepare);
  }
}

TEST(Registry, WhatOnlyNewerProcessorsHaveStaysAndIsRefused) {
  Registry registry;
  registry.add(copy_operation());
  registry.add(implementation(technique("new", Isa::v4), kFloat));
  registry.resolve(Isa::v3);
  ASSERT_EQ(registry.implementations().size(), 1);
  EXPECT_EQ(registry.implementations()[0]->unsupported(Machine{}, Shape({{"n", 1}})),
            "this processor is not x86-64-v4");
}

TEST(Registry, ATechniqueRefusesAShapeWithoutBeingPrepared) {
  Registry registry;
  registry.add(copy_operation());
  Technique even = technique("even");
  even.supports = [](const Machine&, const Shape& shape, FormatPair) {
    return shape["n"] % 2 == 0 ? std::nullopt : std::optional<std::string>("n is odd");
  };
  registry.add(implementation(even, kFloat));
  registry.resolve();
  const Implementation& found = *registry.implementations()[0];
  EXPECT_EQ(found.unsupported(Machine{}, Shape({{"n", 1}})), "n is odd");
  EXPECT_EQ(found.unsupported(Machine{}, Shape({{"n", 2}})), std::nullopt);
}

TEST(Registry, OrderOfRegistrationDoesNotMatter) {
  Registry registry;
  for (const char* const name : {"b", "c", "a"}) {
    registry.add(copy_operation(name));
    Technique fast = technique("fast");
    fast.operation = name;
    registry.add(implementation(fast, kBf16));
    registry.add(implementation(fast, kFloat));
  }
  registry.resolve();
  std::string order;
  for (const auto& i : registry.implementations()) {
    order += std::string(i->operation->name) + ":" + i->format.name() + " ";
  }
  EXPECT_EQ(order, "a:fp32 a:bf16 b:fp32 b:bf16 c:fp32 c:bf16 ");
  EXPECT_EQ(registry.operations().front()->name, "a");
}

std::string refusal(const Registry& registry, std::string_view name) {
  try {
    (void)registry.operation(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Registry, AnUnknownOperationIsAUsageErrorThatListsOperationsAndNoCeilings) {
  Registry registry;
  registry.add(copy_operation("dot"));
  registry.add(copy_operation("relu"));
  Operation ceiling = copy_operation("dram_copy");
  ceiling.ceiling = Ceiling{Resource::memory};
  registry.add(ceiling);
  EXPECT_EQ(refusal(registry, "conv"), "unknown operation 'conv'; allowed: dot, relu");
  EXPECT_EQ(refusal(registry, "RELLU"),
            "unknown operation 'RELLU'; nearest: relu; allowed: dot, relu");
  EXPECT_EQ(refusal(registry, "dram_copy"), "accepted");
}

TEST(Implementation, ArithmeticIsTheRowsOwnUnlessWidened) {
  Implementation i = implementation(technique("naive"), kBf16);
  i.format = Format::bf16;
  EXPECT_EQ(i.arithmetic(), FormatPair(Format::bf16));
  i.technique.arithmetic = Format::fp32;
  EXPECT_EQ(i.arithmetic(), FormatPair(Format::fp32));
}

}  // namespace
}  // namespace ridgebench
