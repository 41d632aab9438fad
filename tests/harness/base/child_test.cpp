#include "harness/base/child.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "harness/base/process.hpp"
#include "harness/base/stopwatch.hpp"

namespace ridgebench {
namespace {

constexpr double kPatience = 30;  // seconds

TEST(Child, ReturnsWhatItsWorkWrote) {
  const std::string text(1 << 20U, 'x');  // more than a pipe holds
  Child child([&](int descriptor) { write_all(descriptor, text); });
  const ChildAnswer answer = child.wait(steady_s() + kPatience);
  EXPECT_EQ(answer.end, ChildEnd::ended);
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.text, text);
}

TEST(Child, AProgramAnswersWithItsStandardOutputOnly) {
  Child child([](int descriptor) {
    answer_with_stdout(descriptor);
    execlp("sh", "sh", "-c", "echo dropped >&2; echo kept", nullptr);
  });
  EXPECT_EQ(child.wait(steady_s() + kPatience).text, "kept\n");
}

TEST(Child, HasTheCodeOfAProgramThatEndedAndNoOther) {
  Child failing([](int) { execlp("sh", "sh", "-c", "exit 3", nullptr); });
  EXPECT_EQ(failing.wait(steady_s() + kPatience).code, 3);
  Child killed([](int) { raise(SIGKILL); });
  EXPECT_NE(killed.wait(steady_s() + kPatience).code, 0);
}

TEST(Child, OneThatHangsIsEndedAndKeepsWhatItWrote) {
  Child child([](int descriptor) {
    write_all(descriptor, "so far");
    pause();
  });
  const double start_s = steady_s();
  const ChildAnswer answer = child.wait(start_s + 0.2);
  EXPECT_EQ(answer.end, ChildEnd::hung);
  EXPECT_EQ(answer.text, "so far");
  EXPECT_LT(steady_s() - start_s, kPatience);
}

TEST(Child, OneThatCrashesTellsTheSignal) {
  Child killed([](int) { raise(SIGKILL); });
  const ChildAnswer answer = killed.wait(steady_s() + kPatience);
  EXPECT_EQ(answer.end, ChildEnd::crashed);
  EXPECT_EQ(answer.signal, SIGKILL);
  Child thrown([](int) { throw 1; });
  EXPECT_EQ(thrown.wait(steady_s() + kPatience).signal, SIGABRT);
}

}  // namespace
}  // namespace ridgebench
