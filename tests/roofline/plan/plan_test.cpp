#include "roofline/plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/common/error.hpp"
#include "tests/harness/results/written_results.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const Roofs* h100_roofs() {
  static const Roofs roofs(*find_data_sheet("h100-sxm"));
  return &roofs;
}

double number(const PlanAnswer& answer, const char* key) { return answer.at(key).get<double>(); }

// Value of the term whose name begins so.
double term_of(const PlanAnswer& answer, const std::string& name) {
  for (const PlanAnswer& term : answer.at("terms")) {
    if (term.at("name").get<std::string>().starts_with(name)) return number(term, "value");
  }
  return kNan;
}

std::string rejection(auto&& plan) {
  return message_of<UsageError>([&] { (void)plan(); });
}

TEST(LecturePlan, Question1TrainingFlopsAreSixTimesParametersTimesTokens) {
  const PlanAnswer answer = plan_train({.work = {.parameters = 70e9, .tokens = 15e12}}, nullptr);
  EXPECT_DOUBLE_EQ(number(answer, "flops"), 6.3e24);
  EXPECT_FALSE(answer.contains("days"));
  EXPECT_DOUBLE_EQ(term_of(answer, "backward"), 2 * term_of(answer, "forward"));
}

TEST(LecturePlan, Question2Trains70BIn143Point9Days) {
  const PlanAnswer answer = plan_train(
      {.work = {.parameters = 70e9, .tokens = 15e12}, .gpus = 1024, .mfu = 0.5}, h100_roofs());
  EXPECT_NEAR(number(answer, "days"), 143.9, 0.05);
  EXPECT_EQ(answer.at("inputs").at("device"), "h100-sxm");
}

TEST(LecturePlan, Question3LargestModelOnEightH100IsOf53Or40BillionParameters) {
  const PlanAnswer bf16 = plan_memory({}, 8, h100_roofs());
  EXPECT_NEAR(number(bf16, "parameters"), 53.3e9, 0.05e9);
  EXPECT_DOUBLE_EQ(number(bf16, "bytes_per_parameter"), 12);
  const PlanAnswer fp32 = plan_memory({.precision = "fp32"}, 8, h100_roofs());
  EXPECT_DOUBLE_EQ(number(fp32, "parameters"), 40e9);
  EXPECT_DOUBLE_EQ(number(fp32, "bytes_per_parameter"), 16);
  const PlanAnswer master = plan_memory({.precision = "bf16-master"}, 8, h100_roofs());
  EXPECT_DOUBLE_EQ(number(master, "bytes_per_parameter"), 16);
}

TEST(LecturePlan, Question4OptimizerStatePerParameter) {
  const auto state_bytes = [](const char* optimizer) {
    const PlanAnswer answer = plan_memory({.optimizer = optimizer, .parameters = 1}, {}, nullptr);
    return number(answer, "bytes_per_parameter") - 4;  // bf16 parameters and gradients
  };
  EXPECT_DOUBLE_EQ(state_bytes("sgd"), 0);
  EXPECT_DOUBLE_EQ(state_bytes("momentum"), 4);
  EXPECT_DOUBLE_EQ(state_bytes("adagrad"), 4);
  EXPECT_DOUBLE_EQ(state_bytes("rmsprop"), 4);
  EXPECT_DOUBLE_EQ(state_bytes("adam"), 8);
  EXPECT_DOUBLE_EQ(state_bytes("adamw"), 8);
}

TEST(LecturePlan, Question5Gpt3FeedForwardMatrixIs2304MiBInFp32And1152InBf16) {
  constexpr double kMiB = 1 << 20;
  EXPECT_DOUBLE_EQ(number(plan_tensor("49152x12288", "fp32"), "bytes"), 2304 * kMiB);
  EXPECT_DOUBLE_EQ(number(plan_tensor("49152x12288", "bf16"), "bytes"), 1152 * kMiB);
}

TEST(Plan, TellsWhetherATensorAndActivationsFitADevice) {
  EXPECT_EQ(plan_tensor("49152x12288", "fp32", h100_roofs()).at("fits"), true);
  EXPECT_EQ(plan_tensor("1000000x100000", "bf16", h100_roofs()).at("fits"), false);
  EXPECT_FALSE(plan_tensor("7", "bf16").contains("fits"));
  const ActivationQuestion question{.layers = 96, .width = 12288, .batch = 65536};
  const PlanAnswer answer = plan_activations(question, h100_roofs());
  EXPECT_EQ(answer.at("fits"), false);
  EXPECT_DOUBLE_EQ(term_of(answer, "memory of 1 x h100-sxm"), 80e9);
}

TEST(LecturePlan, Question6SeventyBillionParametersDoNotFit) {
  const PlanAnswer weights =
      plan_memory({.optimizer = "none", .parameters = 70e9}, 1, h100_roofs());
  EXPECT_DOUBLE_EQ(number(weights, "bytes"), 140e9);
  EXPECT_EQ(weights.at("fits"), false);
  const PlanAnswer training = plan_memory({.parameters = 70e9}, 8, h100_roofs());
  EXPECT_DOUBLE_EQ(number(training, "bytes"), 840e9);
  EXPECT_DOUBLE_EQ(term_of(training, "parameters"), 140e9);
  EXPECT_DOUBLE_EQ(term_of(training, "gradients"), 140e9);
  EXPECT_DOUBLE_EQ(term_of(training, "adamw states"), 560e9);
  EXPECT_DOUBLE_EQ(term_of(training, "memory of 8 x h100-sxm"), 640e9);
  EXPECT_EQ(training.at("fits"), false);
}

TEST(LecturePlan, Question7ZeroStagesShardStatesThenGradientsThenParameters) {
  const auto per_rank = [](double stage) {
    return number(plan_zero({.parameters = 8e9}, stage, 8, nullptr), "bytes");
  };
  EXPECT_DOUBLE_EQ(per_rank(0), 8e9 * 12);
  EXPECT_DOUBLE_EQ(per_rank(1), 8e9 * (2 + 2 + 8.0 / 8));
  EXPECT_DOUBLE_EQ(per_rank(2), 8e9 * (2 + (2 + 8) / 8.0));
  EXPECT_DOUBLE_EQ(per_rank(3), 8e9 * (2 + 2 + 8) / 8.0);
}

TEST(LecturePlan, Question8ActivationsAreTwoBytesTimesBatchWidthLayers) {
  ActivationQuestion question{.layers = 100, .width = 512, .batch = 64};
  const double all = 2.0 * 64 * 512 * 100;
  EXPECT_DOUBLE_EQ(number(plan_activations(question), "bytes"), all);
  question.micro_batches = 4;
  EXPECT_DOUBLE_EQ(number(plan_activations(question), "bytes"), all / 4);
  question.micro_batches = 1;
  question.pre_activations = true;
  EXPECT_DOUBLE_EQ(number(plan_activations(question), "bytes"), 2 * all);
}

TEST(LecturePlan, Question8CheckpointsTakeTheRootOfTheLayersForOneMoreForward) {
  const auto layers_alive = [](double layers) {
    const PlanAnswer answer =
        plan_activations({.layers = layers, .width = 1, .batch = 1, .checkpoint = "sqrt"});
    EXPECT_DOUBLE_EQ(term_of(answer, "extra forward passes"), 1);
    return number(answer, "bytes") / 2;
  };
  EXPECT_DOUBLE_EQ(layers_alive(100), 19);  // 10 checkpoints, 9 more inside a segment
  EXPECT_DOUBLE_EQ(layers_alive(10000), 199);
}

TEST(Plan, CheckpointsOfAFewLayersSaveNothing) {
  const auto plan = [](double layers, bool pre_activations, const char* checkpoint) {
    return plan_activations({.layers = layers,
                             .width = 1,
                             .batch = 1,
                             .pre_activations = pre_activations,
                             .checkpoint = checkpoint});
  };
  for (const double layers : {1, 2, 3}) {
    const PlanAnswer answer = plan(layers, false, "sqrt");
    EXPECT_DOUBLE_EQ(number(answer, "bytes"), number(plan(layers, false, "none"), "bytes"));
    EXPECT_DOUBLE_EQ(term_of(answer, "extra forward passes"), 0);
    EXPECT_THAT(answer.at("note").get<std::string>(), HasSubstr("save nothing"));
  }
  EXPECT_LT(number(plan(4, false, "sqrt"), "bytes"), number(plan(4, false, "none"), "bytes"));
  EXPECT_DOUBLE_EQ(term_of(plan(2, true, "sqrt"), "extra forward passes"), 1)
      << "the pre-activations of one segment only";
}

TEST(Plan, OutputsAliveAreCheckpointsAndOneSegment) {
  const PlanAnswer answer =
      plan_activations({.layers = 96, .width = 1, .batch = 1, .checkpoint = "sqrt"});
  EXPECT_DOUBLE_EQ(term_of(answer, "checkpoints"), 10);
  EXPECT_DOUBLE_EQ(term_of(answer, "outputs recomputed in one segment"), 9);
  EXPECT_DOUBLE_EQ(term_of(answer, "outputs alive at once"), 19);
}

TEST(Plan, TheInputAloneIsEnoughIfAllIsComputedAgain) {
  const PlanAnswer answer =
      plan_activations({.layers = 96, .width = 3, .batch = 1, .checkpoint = "full"});
  EXPECT_DOUBLE_EQ(number(answer, "bytes"), 2 * 2 * 3) << "the input and one output, in bf16";
  EXPECT_DOUBLE_EQ(term_of(answer, "extra forward passes") * 96, 96 * 95 / 2.0);
  const PlanAnswer few =
      plan_activations({.layers = 2, .width = 3, .batch = 1, .checkpoint = "full"});
  EXPECT_DOUBLE_EQ(term_of(few, "extra forward passes"), 0);
}

TEST(Plan, Fp4HasAScaleForEachBlockOfARow) {
  EXPECT_DOUBLE_EQ(number(plan_tensor("16x32", "fp4"), "bytes"), 16 * 32 * 0.5 + 16 * 2);
  EXPECT_DOUBLE_EQ(number(plan_tensor("2x17", "fp4_e2m1"), "bytes"), 17 + 2 * 2);
  EXPECT_DOUBLE_EQ(number(plan_tensor("49152x12288", "fp4"), "bytes"), 49152.0 * 12288 * 0.5625);
  EXPECT_EQ(plan_tensor("4", "fp4").at("inputs").at("format"), "nvfp4");
  EXPECT_DOUBLE_EQ(number(plan_tensor("2x33", "mxfp4"), "bytes"), 33 + 2 * 2);
  EXPECT_DOUBLE_EQ(number(plan_tensor("64x64", "mxfp4"), "bytes"), 64 * 64 * 0.53125);
  EXPECT_DOUBLE_EQ(number(plan_tensor("64x128", "int4"), "bytes"), 64 * (64 + 2));
  EXPECT_DOUBLE_EQ(number(plan_tensor("2x33", "mxfp8"), "bytes"), 66 + 2 * 2);
  EXPECT_EQ(plan_tensor("4k", "fp4", h100_roofs()).at("fits"), true);
}

TEST(Plan, AMixedFormatHasThePeakOfItsSlowerHalf) {
  const TrainQuestion question{.work = {.flops = 1e21},
                               .mfu = 1,
                               .mfu_sheet = "",
                               .format = {Format::fp8_e4m3, Format::fp8_e5m2}};
  EXPECT_DOUBLE_EQ(number(plan_train(question, h100_roofs()), "days"), 1e21 / 1979e12 / 86400);
}

// A device that was measured at 840 TFLOP/s.
Roofs measured(bool with_sheet) {
  Roofs roofs("a device");
  roofs.add({Resource::tensor, Format::bf16, 0, 840e12, "ceiling"});
  if (with_sheet) roofs.promise(*find_data_sheet("h100-sxm"));
  return roofs;
}

TEST(PlanMfu, IsAShareOfThePeakOfTheDataSheet) {
  const Roofs device = measured(true);
  const PlanAnswer answer = plan_train({.work = {.flops = 1e21}, .mfu = 0.5}, &device);
  EXPECT_DOUBLE_EQ(number(answer, "days"), 1e21 / (0.5 * 989.5e12) / 86400);
  EXPECT_EQ(answer.at("inputs").at("peak_from"), "h100-sxm");
  EXPECT_FALSE(answer.contains("note"));
}

TEST(PlanMfu, WithoutADataSheetIsAShareOfTheMeasuredPeakAndSaysSo) {
  const Roofs device = measured(false);
  const PlanAnswer answer = plan_train({.work = {.flops = 1e21}, .mfu = 0.5}, &device);
  EXPECT_DOUBLE_EQ(number(answer, "days"), 1e21 / (0.5 * 840e12) / 86400);
  EXPECT_THAT(answer.at("note").get<std::string>(), HasSubstr("share of the measured peak"));
}

TEST(PlanMfu, OfARowServesItsOwnDataSheetOnlyAndBoundsAModels) {
  const Roofs device = measured(true);
  TrainQuestion question{
      .work = {.flops = 1e21}, .mfu = 0.75, .mfu_row = "row", .mfu_sheet = "h100-sxm"};
  const PlanAnswer answer = plan_train(question, &device);
  EXPECT_DOUBLE_EQ(number(answer, "days"), 1e21 / (0.75 * 989.5e12) / 86400);
  EXPECT_THAT(answer.at("note").get<std::string>(), HasSubstr("upper bound"));
  const Roofs b200(*find_data_sheet("b200"));
  EXPECT_EQ(rejection([&] { return plan_train(question, &b200); }),
            "--mfu was measured against the peak of h100-sxm, and --on names b200; allowed: "
            "--on h100-sxm, or a number for --mfu");
}

TEST(PlanMfu, NeedsAPeakOfTheDataSheetInTheFormat) {
  const Roofs a100(*find_data_sheet("a100-80-sxm"));
  EXPECT_THAT(rejection([&] {
                return plan_train({.work = {.flops = 1e21}, .mfu = 0.5, .format = Format::fp8_e4m3},
                                  &a100);
              }),
              HasSubstr("a100-80-sxm has no peak for fp8_e4m3; it has: fp32"));
}

TEST(LecturePlan, Question9EightH100ForTwoWeeksDo958e21Flops) {
  const PlanAnswer answer = plan_train({.days = 14, .gpus = 8, .mfu = 1}, h100_roofs());
  EXPECT_NEAR(number(answer, "flops"), 9.58e21, 0.005e21);
  EXPECT_DOUBLE_EQ(number(answer, "flops"), 8 * 14 * 86400.0 * 989.5e12);
  EXPECT_DOUBLE_EQ(number(answer, "days"), 14);
}

TEST(LecturePlan, Question10FlopsInDeviceDaysAtAMeasuredMfu) {
  const PlanAnswer answer = plan_train({.work = {.flops = 3.14e23},
                                        .gpus = 100,
                                        .mfu = 0.4,
                                        .mfu_row = "the row",
                                        .mfu_sheet = "h100-sxm"},
                                       h100_roofs());
  const double device_days = 3.14e23 / (0.4 * 989.5e12) / 86400;
  EXPECT_DOUBLE_EQ(term_of(answer, "device-days"), device_days);
  EXPECT_DOUBLE_EQ(number(answer, "days"), device_days / 100);
  EXPECT_EQ(answer.at("inputs").at("mfu_row"), "the row");
}

TEST(Plan, FormatSelectsThePeak) {
  const TrainQuestion question{.work = {.flops = 1e21}, .mfu = 1, .format = Format::fp8_e4m3};
  EXPECT_DOUBLE_EQ(number(plan_train(question, h100_roofs()), "days"), 1e21 / 1979e12 / 86400);
}

TEST(Plan, ALargestModelFitsExactly) {
  const PlanAnswer answer = plan_memory({.optimizer = "momentum"}, 3, h100_roofs());
  EXPECT_EQ(answer.at("fits"), true);
  const double parameters = number(answer, "parameters");
  EXPECT_DOUBLE_EQ(parameters, std::floor(parameters));
  EXPECT_GT((parameters + 1) * 8, 240e9);
}

TEST(Plan, ZeroAnswersTheLargestModelPerDevice) {
  const PlanAnswer answer = plan_zero({}, 3, 8, h100_roofs());
  EXPECT_NEAR(number(answer, "parameters"), 640e9 / 12, 1);
}

TEST(Plan, MicroBatchesThatDoNotDivideTheBatchCountTheLargest) {
  const PlanAnswer answer =
      plan_activations({.layers = 1, .width = 1, .batch = 10, .micro_batches = 3});
  EXPECT_DOUBLE_EQ(number(answer, "bytes"), 2 * 4);
}

TEST(Plan, AnswersAreStrictJson) {
  const PlanAnswer answer = plan_memory({}, 8, h100_roofs());
  EXPECT_EQ(PlanAnswer::parse(answer.dump()), answer);
}

TEST(PlanErrors, TrainAsksForTheWorkOnce) {
  EXPECT_THAT(rejection([] { return plan_train({}, nullptr); }), HasSubstr("give the work once"));
  EXPECT_THAT(rejection([] { return plan_train({.work = {.parameters = 1e9}}, nullptr); }),
              HasSubstr("--parameters or --model with --tokens"));
  EXPECT_THAT(rejection([] {
                return plan_train({.work = {.flops = 1e20}, .days = 3, .mfu = 1}, h100_roofs());
              }),
              HasSubstr("once"));
}

TEST(PlanErrors, TrainNeedsDeviceAndMfuTogether) {
  EXPECT_THAT(rejection([] { return plan_train({.work = {.flops = 1e20}, .mfu = 1}, nullptr); }),
              HasSubstr("need --on DEVICE"));
  EXPECT_THAT(rejection([] { return plan_train({.work = {.flops = 1e20}}, h100_roofs()); }),
              HasSubstr("needs --mfu"));
}

TEST(PlanErrors, NumbersThatMakeNoSenseAreNamed) {
  for (const double bad : {0.0, -1.0, kNan, kInfinity, 1e31, 1e-31}) {
    EXPECT_THAT(rejection([&] { return plan_train({.work = {.flops = bad}}, nullptr); }),
                HasSubstr("--flops is"));
    EXPECT_THAT(rejection([&] { return plan_memory({.parameters = bad}, {}, nullptr); }),
                HasSubstr("--parameters is"));
    EXPECT_THAT(rejection([&] { return plan_memory({}, bad, h100_roofs()); }),
                HasSubstr("--gpus is"));
    EXPECT_THAT(rejection([&] { return plan_zero({}, 1, bad, h100_roofs()); }),
                HasSubstr("--ranks is"));
    EXPECT_THAT(rejection([&] { return plan_zero({}, bad + 0.5, 8, h100_roofs()); }),
                HasSubstr("--stage is"));
    EXPECT_THAT(
        rejection([&] { return plan_activations({.layers = bad, .width = 1, .batch = 1}); }),
        HasSubstr("--layers is"));
  }
  for (const double bad : {0.0, -0.5, 1.01, kNan, kInfinity}) {
    EXPECT_THAT(
        rejection([&] { return plan_train({.work = {.flops = 1e20}, .mfu = bad}, h100_roofs()); }),
        HasSubstr("--mfu is"));
  }
  EXPECT_THAT(rejection([] { return plan_memory({}, 1.5, h100_roofs()); }),
              HasSubstr("whole number"));
  EXPECT_THAT(message_of<UsageError>([] { (void)link_of("1e-300"); }),
              HasSubstr("--link is 1e-300; allowed: a number above 0, from 1e-30 to 1e+30"));
}

TEST(PlanMemory, InferenceTakesFormatsBelowEightBits) {
  const auto bytes_of = [](const char* precision) {
    return number(
        plan_memory({.precision = precision, .optimizer = "none", .parameters = 1024}, {}, nullptr),
        "bytes");
  };
  EXPECT_DOUBLE_EQ(bytes_of("nvfp4"), 1024 * 0.5625);
  EXPECT_DOUBLE_EQ(bytes_of("int4"), 1024 * (0.5 + 2.0 / 128));
  EXPECT_DOUBLE_EQ(bytes_of("fp8"), 1024);
  EXPECT_THAT(rejection([] { return plan_memory({.precision = "nvfp4"}, 1, h100_roofs()); }),
              HasSubstr("--precision is 'nvfp4'; allowed: bf16, fp32"))
      << "it does not train";
}

TEST(PlanErrors, UnknownChoicesNameWhatIsAllowed) {
  EXPECT_EQ(rejection([] { return plan_memory({.optimizer = "muon"}, 1, h100_roofs()); }),
            "--optimizer is 'muon'; allowed: none, sgd, momentum, adagrad, rmsprop, adam, adamw, "
            "lion, adafactor");
  EXPECT_EQ(rejection([] { return plan_memory({.precision = "fp64"}, 1, h100_roofs()); }),
            "--precision is 'fp64'; allowed: bf16, fp32, bf16-master, fp32-bf16, bf16-lora, "
            "bf16-offload");
  EXPECT_EQ(rejection([] {
              return plan_activations({.layers = 1, .width = 1, .batch = 1, .checkpoint = "all"});
            }),
            "--checkpoint is 'all'; allowed: none, layer, sqrt, full, or every:K with a whole "
            "number of layers, such as every:4");
}

TEST(PlanErrors, MemoryNeedsAModelOrADevice) {
  EXPECT_THAT(rejection([] { return plan_memory({}, {}, nullptr); }), HasSubstr("--parameters"));
  EXPECT_THAT(rejection([] { return plan_memory({.parameters = 1e9}, 8, nullptr); }),
              HasSubstr("--gpus needs --on"));
}

TEST(PlanErrors, ShapesOfTensors) {
  for (const char* shape : {"", "x", "4x", "x4", "4xx4", "0x4", "-4x4", "4.5", "4 x 4", "4,4",
                            "99999999999999999999", "9007199254740992x2"}) {
    EXPECT_THAT(rejection([&] { return plan_tensor(shape, "fp32"); }), HasSubstr("--shape"))
        << shape;
  }
  EXPECT_DOUBLE_EQ(number(plan_tensor("7", "fp8_e4m3"), "bytes"), 7);
}

TEST(PlanErrors, MoreMicroBatchesThanRows) {
  EXPECT_THAT(rejection([] {
                return plan_activations({.layers = 1, .width = 1, .batch = 2, .micro_batches = 3});
              }),
              HasSubstr("--micro-batches is 3; allowed: at most the batch, 2"));
}

}  // namespace
}  // namespace ridgebench
