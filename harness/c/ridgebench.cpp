// The functions of ridgebench.h. The build leaves this file out of the programs: it is the surface
// of libridgebench.so, which exports nothing else.
#include "harness/c/ridgebench.h"

#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/c/own_run.hpp"
#include "harness/c/texts.hpp"
#include "harness/cli/commands.hpp"
#include "harness/measure/sampler.hpp"

struct ridgebench_run {
  ridgebench::OwnRun run;
  std::string message;
  std::string answer;
};

namespace {

using namespace ridgebench;  // NOLINT(google-build-using-namespace): the names of the C interface

// Calls `work`, which returns an exit code, and turns an exception into its code and message.
template <class Work>
std::int32_t guarded(ridgebench_run* run, const Work& work) {
  try {
    run->message.clear();
    return static_cast<std::int32_t>(work());
  } catch (...) {
    const CommandFailure failure = command_failure(std::current_exception());
    run->message = printable(failure.text);
    return static_cast<std::int32_t>(failure.code);
  }
}

}  // namespace

extern "C" {

std::int32_t ridgebench_interface() { return RIDGEBENCH_INTERFACE; }

// The caller in C owns the run. NOLINTBEGIN(cppcoreguidelines-owning-memory)
ridgebench_run* ridgebench_new() { return new (std::nothrow) ridgebench_run; }
void ridgebench_free(ridgebench_run* run) { delete run; }
// NOLINTEND(cppcoreguidelines-owning-memory)
const char* ridgebench_message(const ridgebench_run* run) { return run->message.c_str(); }
const char* ridgebench_folder(const ridgebench_run* run) { return run->run.folder().c_str(); }

std::int32_t ridgebench_add_operation(ridgebench_run* run, const ridgebench_operation* operation) {
  return guarded(run, [&] {
    run->run.add_operation(*operation);
    return ExitCode::fine;
  });
}

std::int32_t ridgebench_add_technique(ridgebench_run* run, const ridgebench_technique* technique) {
  return guarded(run, [&] {
    run->run.add_technique(*technique);
    return ExitCode::fine;
  });
}

std::int32_t ridgebench_add_shape(ridgebench_run* run, const char* operation, const char* text) {
  return guarded(run, [&] {
    run->run.operation(text_of(operation)).add_shape(text_of(text));
    return ExitCode::fine;
  });
}

std::int32_t ridgebench_serve(ridgebench_run* run, std::int32_t (*empty_launch)(void* user),
                              void* user) {
  return guarded(run, [&]() -> ExitCode { run->run.serve(empty_launch, user); });
}

std::int32_t ridgebench_measure(ridgebench_run* run, const ridgebench_request* request) {
  return guarded(run, [&] {
    try {
      return run->run.measure(*request);
    } catch (const Interrupted&) {
      run->message = "interrupted; finished rows are kept in " + printable(run->run.folder());
      return ExitCode::undecided;
    }
  });
}

std::int32_t ridgebench_ask(ridgebench_run* run, const char* const* words,
                            std::int32_t word_count) {
  return guarded(run, [&] {
    run->answer.clear();
    std::vector<std::string> asked;
    for (std::int32_t i = 0; i < word_count; ++i) asked.push_back(text_of(words[i]));
    run->answer = answer_in_json(std::move(asked));
    return ExitCode::fine;
  });
}

const char* ridgebench_answer(const ridgebench_run* run) { return run->answer.c_str(); }

std::int32_t ridgebench_decode(const char* format, const void* bits, std::int64_t count,
                               double* numbers) {
  ridgebench_run unused;
  return guarded(&unused, [&] {
    const View view{bits, parse_format(text_of(format))};
    view.read(0, {numbers, static_cast<std::size_t>(count)});
    return ExitCode::fine;
  });
}

std::int32_t ridgebench_encode(const char* format, const double* numbers, std::int64_t count,
                               void* bits) {
  ridgebench_run unused;
  return guarded(&unused, [&] {
    const Format chosen = parse_format(text_of(format));
    const auto bytes = static_cast<std::size_t>(info(chosen).storage_bytes);
    auto* out = static_cast<std::byte*>(bits);
    for (std::int64_t i = 0; i < count; ++i, out += bytes) {
      const std::uint64_t stored = stored_bits(chosen, numbers[i]);
      std::memcpy(out, &stored, bytes);  // the low bytes come first
    }
    return ExitCode::fine;
  });
}

}  // extern "C"
