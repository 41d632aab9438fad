// A record with a value for every key, for tests of what reads and writes records.
#pragma once

#include <string>

#include "harness/results/record.hpp"

namespace ridgebench {

inline Record sample_record(const std::string& id = "copy/fast/bf16/n:1000/steady@cpu") {
  Record r;
  r.id = id;
  r.op = "copy";
  r.technique = "fast";
  r.backend = Backend::cpu;
  r.device = "cpu";
  r.origin = Origin::hand;
  r.role = Role::ceiling;
  r.saturates = Resource::cache;
  r.level = 2;
  r.engine = Engine::memory;
  r.format = Format::bf16;
  r.arithmetic = Format::fp32;
  r.accumulator = Format::fp32;
  r.accumulator_bits = 23;
  r.isa = Isa::v3;
  r.held_back_by = "OPENBLAS_CORETYPE=Prescott";
  r.fingerprint = "00112233445566aa";
  r.shape = Shape({{"n", 1000}}, Layout::nt);
  r.regime = Regime::steady;
  r.flops = 3000;
  r.bytes = 4000;
  r.written_fraction = 0.5;
  r.status = Status::ok;
  r.seed = 7;
  r.fill = "normal";
  r.held_back_by = "ONEDNN_MAX_CPU_ISA=SSE41";
  r.sets = 3;
  r.samples_s = {1.1e-6, 1.0e-6, 1.3e-6};
  r.samples_per_batch = 3;
  r.launches_per_sample = 12;
  r.tick_s = 2.5e-8;
  r.time = Summary{.median = 1.1e-6,
                   .ci_low = 1.0e-6,
                   .ci_high = 1.3e-6,
                   .min = 1.0e-6,
                   .p10 = 1.02e-6,
                   .p90 = 1.26e-6,
                   .samples = 3};
  r.time_mean_s = 1.15e-6;
  r.clocks_hz = {2.5e9, 2.4e9, 2.6e9};
  r.clock_hz = 2.5e9;
  r.power_state = PowerState::full_clock;
  r.cycles_median = r.cycles()->median;
  r.cycles_ci_low = r.cycles()->ci_low;
  r.cycles_ci_high = r.cycles()->ci_high;
  r.bound = Limit::memory;
  r.mfu = 0.25;
  r.fraction_of_roof_at_clock = 0.375;
  r.fraction_of_measured_roof = 0.75;
  r.roof = RecordedRoof{.flops_per_s = 1e11,
                        .bytes_per_s = 1e10,
                        .compute_ceiling = "fma/x@cpu",
                        .memory_ceiling = "dram/y@cpu",
                        .special_results = 1000,
                        .special_results_per_s = 2e9,
                        .special_ceiling = "sfu/z@cpu"};
  r.second_look =
      SecondLook{.times_s = {1.1e-6, 1.2e-6, 1.1e-6}, .bytes_per_s = 1.2e10, .flops_per_s = 1.1e11};
  r.choice = "tile 8x8";
  r.model_l2_to_sm_bytes = 4096;
  r.model_dram_bytes = 1024;
  r.loaded_from = "libmine.so";
  r.isolated = true;
  r.seen_s = 1.15e-6;
  r.early = true;
  r.early_unknown = "no graph";
  r.roof_unknown = "no ceiling";
  r.verify = Verification{.error = 0.125,
                          .tolerance = 1e-3,
                          .elements = 1000,
                          .exact = false,
                          .group = 16,
                          .seed = 12345};
  r.telemetry = {{"power_w", 65.5}, {"sm_clock_hz", {{"median", 2.65e9}}}};
  r.flags = {"drift", "storage_format"};
  return r;
}

// One that says why it was not measured.
inline Record skipped_record(const std::string& id) {
  const Record sample = sample_record(id);
  Record r;
  r.id = sample.id;
  r.op = sample.op;
  r.technique = sample.technique;
  r.backend = sample.backend;
  r.device = sample.device;
  r.origin = sample.origin;
  r.role = sample.role;
  r.saturates = sample.saturates;
  r.level = sample.level;
  r.engine = sample.engine;
  r.format = sample.format;
  r.arithmetic = sample.arithmetic;
  r.accumulator = sample.accumulator;
  r.accumulator_bits = sample.accumulator_bits;
  r.isa = sample.isa;
  r.shape = sample.shape;
  r.regime = sample.regime;
  r.flops = sample.flops;
  r.bytes = sample.bytes;
  r.written_fraction = sample.written_fraction;
  r.status = Status::skipped;
  r.reason = "copy/fast does not serve bf16";
  return r;
}

}  // namespace ridgebench
