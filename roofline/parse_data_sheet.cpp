#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/common/error.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

constexpr std::string_view kSchema = "ridgebench.device/1";

// A value outside its range has the wrong unit: MHz for Hz, TFLOP/s for FLOP/s, GB for bytes.
constexpr Range kSms{1, 1e4};
constexpr Range kFlopsPerS{1e9, 1e18};
constexpr Range kClockHz{1e8, 1e10};
constexpr Range kMemoryClockHz{1e8, 1e11};
constexpr Range kFlopsPerClock{1, 1e6};
constexpr Range kMemoryBytes{1e8, 1e14};
constexpr Range kBandwidth{1e9, 1e15};
constexpr Range kBusBits{8, 1e6};
constexpr Range kCacheBytes{1e4, 1e11};
constexpr Range kWatts{1, 1e5};

// Vendors round printed peaks to about 1 %. A sparse peak is 100 % too large.
constexpr double kPeakTolerance = 0.015;

Format read_format(const JsonObject& object, const char* key, Format (*parse)(std::string_view)) {
  try {
    return parse(object.text(key));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}: {}", object.origin(), key, error.what()));
  }
}

// Unlike the command line, a sheet may state a peak of fp4_e2m1.
Format read_peak_format(const JsonObject& object) {
  const std::string format = object.text("format");
  if (format == kFp4E2m1.name) return Format::fp4_e2m1;
  if (format.starts_with("fp4")) object.reject("format", kFp4E2m1.name);
  return read_format(object, "format", parse_format);
}

Engine read_engine(const JsonObject& object) {
  const std::string engine = object.text("engine");
  if (engine == "fma") return Engine::fma;
  if (engine == "tensor") return Engine::tensor;
  object.reject("engine", "fma, tensor");
}

Peak read_peak(const JsonObject& object, int sms) {
  Peak peak{
      .format = read_peak_format(object),
      .engine = read_engine(object),
      .accumulator = read_format(object, "accumulator", parse_sum_format),
      .flops_per_s = object.number("flops_per_s", kFlopsPerS),
      .clock_hz = object.optional_number("clock_hz", kClockHz),
      .flops_per_clock_per_sm = object.optional_number("flops_per_clock_per_sm", kFlopsPerClock),
      .source = object.text("source"),
      .doubt = object.optional_text("doubt")};
  if (!peak.clock_hz || !peak.flops_per_clock_per_sm || peak.doubt) return peak;
  const double computed = *peak.flops_per_clock_per_sm * sms * *peak.clock_hz;
  if (std::abs((peak.flops_per_s / computed) - 1) > kPeakTolerance) {
    object.reject("flops_per_s", fmt::format("sms x flops_per_clock_per_sm x clock_hz = {:.4g} "
                                             "within 1.5 %, or a doubt that says why not",
                                             computed));
  }
  return peak;
}

// Data sheets do not list tf32x3, each product of which takes several tf32 products.
void add_tf32x3(std::vector<Peak>& peaks) {
  const auto [factors, count] = products_of(Format::tf32x3);
  const auto of = [](Format format) {
    return [format](const Peak& p) { return p.format == format; };
  };
  const auto factor_peak = std::ranges::find_if(peaks, of(factors));
  const bool listed = std::ranges::any_of(peaks, of(Format::tf32x3));
  if (factor_peak == peaks.end() || listed) return;
  Peak peak = *factor_peak;
  peak.format = Format::tf32x3;
  peak.flops_per_s /= count;
  if (peak.flops_per_clock_per_sm) *peak.flops_per_clock_per_sm /= count;
  peak.source = fmt::format("1/{} of {}: {}", count, info(factors).name, peak.source);
  peaks.push_back(std::move(peak));
}

std::vector<Peak> read_peaks(const JsonObject& sheet, int sms) {
  std::vector<Peak> peaks;
  for (const JsonObject& object : sheet.objects("peaks")) {
    Peak peak = read_peak(object, sms);
    const bool twice = std::ranges::any_of(peaks, [&](const Peak& other) {
      return other.format == peak.format && other.engine == peak.engine &&
             other.accumulator == peak.accumulator;
    });
    if (twice) object.reject("format", "each format, engine and accumulator once");
    peaks.push_back(std::move(peak));
  }
  if (peaks.empty()) sheet.reject("peaks", "at least one peak");
  add_tf32x3(peaks);
  return peaks;
}

// A user's sheet that was written before this key existed lacks it.
std::optional<UsableMemory> read_usable(const JsonObject& memory) {
  if (!memory.holds("usable_bytes")) return std::nullopt;
  return UsableMemory{.bytes = memory.number("usable_bytes", kMemoryBytes),
                      .source = memory.text("usable_source")};
}

MemorySpec read_memory(const JsonObject& memory) {
  std::optional<Pins> pins;
  if (const auto pin = memory.optional_object("pin")) {
    pins = Pins{.bus_bits = pin->number("bus_bits", kBusBits),
                .memory_clock_hz = pin->number("memory_clock_hz", kMemoryClockHz)};
  }
  return {.kind = memory.text("kind"),
          .bytes = memory.number("bytes", kMemoryBytes),
          .usable = read_usable(memory),
          .bandwidth_bytes_per_s = memory.number("bandwidth_bytes_per_s", kBandwidth),
          .pins = pins,
          .source = memory.text("source"),
          .doubt = memory.optional_text("doubt")};
}

std::string read_name(const JsonObject& sheet) {
  const std::string name = sheet.text("name");
  const std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
  if (name.find_first_not_of(allowed) != std::string::npos) {
    sheet.reject("name", "lower-case letters, digits and '-'");
  }
  return name;
}

}  // namespace

DeviceSpec parse_data_sheet(std::string_view text, std::string_view origin) {
  const nlohmann::json json = parse_json(text, origin);
  const JsonObject sheet(json, std::string(origin));
  if (sheet.text("schema") != kSchema) sheet.reject("schema", kSchema);
  const JsonObject match = sheet.object("match");
  const JsonObject l2 = sheet.object("l2");
  const double sms = sheet.number("sms", kSms);
  if (sms != std::floor(sms)) sheet.reject("sms", "a whole number");
  return {.name = read_name(sheet),
          .aliases = sheet.texts("aliases"),
          .title = sheet.text("title"),
          .vendor = sheet.text("vendor"),
          .architecture = sheet.text("architecture"),
          .compute_capability = sheet.optional_text("compute_capability"),
          .match_names = match.texts("names"),
          .pci_ids = match.texts("pci_ids"),
          .sms = static_cast<int>(sms),
          .peaks = read_peaks(sheet, static_cast<int>(sms)),
          .memory = read_memory(sheet.object("memory")),
          .l2 = {.bytes = l2.optional_number("bytes", kCacheBytes),
                 .source = l2.text("source"),
                 .doubt = l2.optional_text("doubt")},
          .tdp_w = sheet.optional_number("tdp_w", kWatts),
          .sources = sheet.texts("sources"),
          .doubts = sheet.texts("doubts")};
}

}  // namespace ridgebench
