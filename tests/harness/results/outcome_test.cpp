#include "harness/results/outcome.hpp"

#include <gmock/gmock.h>

#include "tests/support/sample_record.hpp"

namespace ridgebench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Record row(const std::string& operation, Role role, Status status) {
  Record record = status == Status::ok ? sample_record() : skipped_record("x");
  record.op = operation;
  record.role = role;
  record.status = status;
  return record;
}

Record without_memory(Record record) {
  record.flags = {kOutOfMemoryFlag};
  record.reason = "needs 9 bytes of device memory, 5 bytes are free";
  return record;
}

TEST(Outcome, TheExitCodeIsThatOfTheWorstRow) {
  const auto code = [](Status status) {
    Record record = sample_record();
    record.status = status;
    const std::vector<Record> records{sample_record(), record, sample_record()};
    return exit_code(records);
  };
  EXPECT_EQ(code(Status::ok), ExitCode::fine);
  EXPECT_EQ(code(Status::skipped), ExitCode::fine);
  for (const Status bad : {Status::wrong, Status::suspect, Status::invalid, Status::failed}) {
    EXPECT_EQ(code(bad), ExitCode::row_failed) << name(bad);
  }
  EXPECT_EQ(exit_code({}), ExitCode::fine);
}

TEST(Outcome, ARunWithoutAMeasuredKernelFailed) {
  const std::vector<Record> records{row("copy", Role::ceiling, Status::ok),
                                    row("relu", Role::kernel, Status::skipped)};
  EXPECT_THAT(unmeasured(records), ElementsAre(HasSubstr("no row could be measured: copy/fast")));
  EXPECT_EQ(exit_code(records), ExitCode::row_failed);
}

TEST(Outcome, ARunOfCeilingsNeedsNoKernel) {
  const std::vector<Record> records{row("copy", Role::ceiling, Status::ok),
                                    row("fma", Role::ceiling, Status::skipped)};
  EXPECT_THAT(unmeasured(records), IsEmpty());
}

TEST(Outcome, AnOperationThatDoesNotFitIsNamed) {
  const std::vector<Record> records{without_memory(row("copy", Role::ceiling, Status::skipped)),
                                    row("relu", Role::kernel, Status::ok),
                                    without_memory(row("dot", Role::kernel, Status::skipped)),
                                    row("dot", Role::kernel, Status::skipped)};
  EXPECT_THAT(unmeasured(records),
              ElementsAre(AllOf(HasSubstr("no row of copy fits"), HasSubstr("5 bytes are free")),
                          HasSubstr("no row of dot fits")));
  EXPECT_EQ(exit_code(records), ExitCode::row_failed);
}

TEST(Outcome, OneRowThatFitsIsEnough) {
  const std::vector<Record> records{without_memory(row("relu", Role::kernel, Status::skipped)),
                                    row("relu", Role::kernel, Status::ok)};
  EXPECT_EQ(exit_code(records), ExitCode::fine);
}

}  // namespace
}  // namespace ridgebench
