// Handling of a failure while a case or a duel is measured: the status and the reason of its
// record.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/device/isolated/kernel_process.hpp"
#include "harness/measure/sampler.hpp"
#include "harness/results/outcome.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

template <class AnyRecord>
void fail(AnyRecord& record, Status status, std::string reason) {
  record.status = status;
  record.reason = std::move(reason);
}

// Calls `measure`, and records the exception that it throws. `what` is "case" or "duel". Rethrows
// Interrupted, and DeviceError if the device is lost.
template <class AnyRecord, class Measure>
void measure_or_fail(AnyRecord& record, std::string_view what, const Measure& measure) {
  const auto skip_for_memory = [&](std::string reason) {
    fail(record, Status::skipped, std::move(reason));
    record.flags.emplace_back(kOutOfMemoryFlag);
  };
  try {
    measure();
  } catch (const Unsupported& reason) {
    fail(record, Status::skipped, reason.what());
  } catch (const OutOfMemory& reason) {
    skip_for_memory(reason.what());
  } catch (const std::bad_alloc&) {
    skip_for_memory(fmt::format("the host has too little memory for the {}", what));
  } catch (const Interrupted&) {
    throw;
  } catch (const DeviceError&) {
    throw;
  } catch (const KernelProcessEnded& end) {
    fail(record, Status::failed, end.what());
    write_error(fmt::format("ridgebench: {} {}; the other rows are kept and measured\n",
                            printable(record.id), end.what()));
  } catch (const std::exception& error) {
    fail(record, Status::failed, error.what());
  } catch (...) {  // a kernel of a user may throw anything
    fail(record, Status::failed, "an exception that is not a std::exception");
  }
}

}  // namespace ridgebench
