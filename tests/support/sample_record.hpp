// A record with a value for every key, for tests of what reads and writes records.
#pragma once

#include <string>

#include "harness/record.hpp"

namespace ridgepoint {

inline Record sample_record(const std::string& id = "copy/fast/bf16/n:1000/steady@cpu") {
  Record r;
  r.row = {.id = id,
           .op = "copy",
           .technique = "fast",
           .backend = "cpu",
           .device = "cpu",
           .origin = "hand",
           .role = "ceiling",
           .saturates = "cache",
           .level = 2,
           .engine = "memory",
           .format = "bf16",
           .arithmetic = "fp32",
           .accumulator = "fp32",
           .isa = "x86-64-v3",
           .shape = {{"n", 1000}, {"layout", "nt"}},
           .regime = "steady",
           .flops = 3000,
           .bytes = 4000,
           .written_fraction = 0.5};
  r.status = Status::ok;
  r.seed = 7;
  r.fill = "normal";
  r.sets = 3;
  r.samples_s = {1.1e-6, 1.0e-6, 1.3e-6};
  r.samples_per_batch = 3;
  r.launches_per_sample = 12;
  r.time = Summary{.median = 1.1e-6,
                   .ci_low = 1.0e-6,
                   .ci_high = 1.3e-6,
                   .min = 1.0e-6,
                   .p10 = 1.02e-6,
                   .p90 = 1.26e-6,
                   .samples = 3};
  r.clock_hz = 2.5e9;
  r.bound = "memory";
  r.mfu = 0.25;
  r.fraction_of_roof_at_clock = 0.375;
  r.fraction_of_measured_roof = 0.75;
  r.roof = RecordedRoof{.flops_per_s = 1e11,
                        .bytes_per_s = 1e10,
                        .compute_ceiling = "fma/x@cpu",
                        .memory_ceiling = "dram/y@cpu"};
  r.verify = Verification{.error = 0.125, .tolerance = 1e-3, .elements = 1000, .exact = false};
  r.telemetry = {{"power_w", 65.5}};
  r.flags = {"drift", "storage_format"};
  return r;
}

// One that says why it was not measured.
inline Record skipped_record(const std::string& id) {
  Record r;
  r.row = sample_record(id).row;
  r.status = Status::skipped;
  r.reason = "copy/fast does not serve bf16";
  return r;
}

}  // namespace ridgepoint
