#include "harness/results/held_back.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "harness/measure/case.hpp"
#include "tests/support/made_up_case.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX declares it nowhere

namespace ridgebench {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

// Sets a variable until the end of its scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(const Variable&) = delete;  // there is one environment
  Variable& operator=(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

// Without the variables of the machine that runs the tests.
class HeldBack : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string name = std::string(*entry).substr(0, std::string(*entry).find('='));
      const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
      if (std::ranges::any_of(library_prefixes(), begins)) names.push_back(name);
    }
    for (const std::string& name : names) unsetenv(name.c_str());
  }
};

TEST_F(HeldBack, EveryLibraryNamesTheVariablesThatItReads) {
  struct Case {
    const char* technique;
    const char* other;
    const char* name;
    const char* value;
  };
  for (const Case& c : {Case{"onednn", "openblas", "ONEDNN_MAX_CPU_ISA", "SSE41"},
                        {"onednn", "cublas", "DNNL_MAX_CPU_ISA", "AVX2"},
                        {"onednn", "naive", "DNNL_VERBOSE", "1"},
                        {"openblas", "onednn", "OPENBLAS_BLOCK_FACTOR", "2"},
                        {"openblas", "packed", "MKL_ENABLE_INSTRUCTIONS", "SSE4_2"},
                        {"cublas", "cub", "NVIDIA_TF32_OVERRIDE", "0"},
                        {"cublas_tuned", "onednn", "CUBLAS_WORKSPACE_CONFIG", ":16:8"},
                        {"cublas_unfused", "wgmma", "CUBLASLT_LOG_LEVEL", "5"}}) {
    const Variable variable(c.name, c.value);
    EXPECT_EQ(held_back_by(c.technique), std::string(c.name) + "=" + c.value);
    EXPECT_EQ(held_back_by(c.other), std::nullopt) << c.name;
  }
}

TEST_F(HeldBack, DefaultsAndWhatTheHarnessSetsItselfAreNoHindrance) {
  struct Case {
    const char* technique;
    const char* name;
    const char* value;
  };
  for (const Case& c : {Case{"onednn", "ONEDNN_MAX_CPU_ISA", "DEFAULT"},
                        {"onednn", "ONEDNN_MAX_CPU_ISA", "ALL"},
                        {"onednn", "ONEDNN_VERBOSE", "0"},
                        {"openblas", "OPENBLAS_NUM_THREADS", "1"},
                        {"openblas", "MKL_NUM_THREADS", "1"},
                        {"cublas", "NVIDIA_TF32_OVERRIDE", ""}}) {
    const Variable variable(c.name, c.value);
    EXPECT_EQ(held_back_by(c.technique), std::nullopt) << c.name << '=' << c.value;
  }
}

TEST_F(HeldBack, SeveralVariablesStandInAFixedOrder) {
  const Variable second("ONEDNN_MAX_CPU_ISA", "AVX2");
  const Variable first("DNNL_VERBOSE", "1");
  EXPECT_EQ(held_back_by("onednn"), "DNNL_VERBOSE=1 ONEDNN_MAX_CPU_ISA=AVX2");
}

TEST_F(HeldBack, ALibrarysRowIsFlaggedAndNoOther) {
  const Variable variable("ONEDNN_MAX_CPU_ISA", "SSE41");
  SimulatedDevice device{Simulation{}};
  MadeUpCase made_up(device);
  made_up.implementation.technique.name = "onednn";
  EXPECT_EQ(made_up.get().describe().held_back_by, std::nullopt) << "written by hand";
  made_up.implementation.technique.origin = Origin::library;
  const Record record = made_up.get().describe();
  EXPECT_EQ(record.held_back_by, "ONEDNN_MAX_CPU_ISA=SSE41");
  EXPECT_THAT(record.flags, Contains("library_held_back"));
  made_up.implementation.technique.name = "openblas";
  EXPECT_THAT(made_up.get().describe().flags, IsEmpty());
}

}  // namespace
}  // namespace ridgebench
