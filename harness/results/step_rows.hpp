// The rows of a measured step in step.jsonl: the ceilings that the command measured, and the parts
// of the step. Predictions read them as they read the rows of a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/key.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/shape.hpp"
#include "roofline/json_object.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

inline constexpr const char* kStepSchema = "ridgebench.step/1";

enum class StepKind : std::uint8_t { train, decode };
constexpr auto names_of(StepKind) { return enum_names("step", "train", "decode"); }

// The launches of a step that do the same for different layers, measured by themselves.
struct StepPart {
  std::string name;
  std::string phase;
  std::string operation;
  Shape shape = {};
  std::string technique;
  std::int64_t launches = 0;
  double time_s = 0;
  std::optional<double> ci_low_s = std::nullopt;
  std::optional<double> ci_high_s = std::nullopt;
  double flops = 0;
  double bytes = 0;
  std::optional<double> roof_s = std::nullopt;
  std::optional<double> sheet_s = std::nullopt;
  bool served_by_cache = false;
};

// A rate that a ceiling reached.
struct StepCeiling {
  std::string id;
  Resource resource = Resource::memory;
  Format format = Format::fp32;
  double written_fraction = 0;
  double per_s = 0;
};

// The rows of a step: its parts and its ceilings, and what names and judges the whole.
struct StepRows {
  std::string id;
  StepKind step = StepKind::train;
  std::string device;
  Format format = Format::fp32;
  Status status = Status::skipped;
  std::optional<double> mfu = std::nullopt;
  std::vector<StepPart> parts = {};
  std::vector<StepCeiling> ceilings = {};
};

// clang-format off
inline constexpr KeyList kStepPartKeys{
    Key{"name", &StepPart::name, "", "what the launches do: `forward`, `dX`, `optimizer`, ...; `norm`, `q`, `attention`, `gate`, ..."},
    Key{"phase", &StepPart::phase, "", "train: `forward`, `backward`, `step` or `zero`; decode: `attention` or `network`, the halves of a layer"},
    Key{"operation", &StepPart::operation, "", "the operation"},
    Key{"shape", &StepPart::shape, "", "sizes of each launch, by the names of the operation's dimensions"},
    Key{"technique", &StepPart::technique, "", "the technique that computes it"},
    Key{"launches", &StepPart::launches, "", "in a step", {.low = 1}},
    Key{"time_s", &StepPart::time_s, "s", "of all of them, back to back and without the rest of the step", kNotNegative},
    Key{"ci_low_s", &StepPart::ci_low_s, "s", "lower end of the 95 % interval of time_s, a median", kNotNegative, Absence::not_in_oldest},
    Key{"ci_high_s", &StepPart::ci_high_s, "s", "upper end of that interval", kNotNegative, Absence::not_in_oldest},
    Key{"flops", &StepPart::flops, "FLOP", "of all of them", kNotNegative},
    Key{"bytes", &StepPart::bytes, "byte", "of all of them, compulsory", kNotNegative},
    Key{"roof_s", &StepPart::roof_s, "s", "least time of them by the measured roofs; null without ceilings", kNotNegative},
    Key{"sheet_s", &StepPart::sheet_s, "s", "least time by the data sheet; null without one", kNotNegative},
    Key{"served_by_cache", &StepPart::served_by_cache, "", "its tensors are less than three times the last level, so that caches may serve it while it runs by itself"},
};
inline constexpr KeyList kStepCeilingKeys{
    Key{"id", &StepCeiling::id, "", "the row that measured it, as a run names it"},
    Key{"resource", &StepCeiling::resource, "", "the resource that it saturates"},
    Key{"format", &StepCeiling::format, "", "of its arithmetic or conversions"},
    Key{"written_fraction", &StepCeiling::written_fraction, "", "of its traffic", {.high = 1}},
    Key{"per_s", &StepCeiling::per_s, "1/s", "bytes, FLOPs or results per second", kPositive},
};
inline constexpr KeyList kStepRowsKeys{
    Key{"id", &StepRows::id, "", "step, sizes and choices, and the device"},
    Key{"step", &StepRows::step, "", "kind of step"},
    Key{"device", &StepRows::device, "", "name of a device in `environment.json`"},
    Key{"format", &StepRows::format, "", "of the parts"},
    Key{"status", &StepRows::status, "", "of the step"},
    Key{"mfu", &StepRows::mfu, "", "of the step; null without a data sheet", kNotNegative},
    Key{"parts", &StepRows::parts, "", "in the order of the step"},
    Key{"ceilings", &StepRows::ceilings, "", "measured beside it"},
};
// clang-format on
constexpr const auto& keys_of(const StepPart*) { return kStepPartKeys; }
constexpr const auto& keys_of(const StepCeiling*) { return kStepCeilingKeys; }
constexpr const auto& keys_of(const StepRows*) { return kStepRowsKeys; }

// Returns true if the folder holds a step.
bool holds_step(const std::filesystem::path& directory);
// Calls `read` for each line of step.jsonl, with its keys in the order of the file too. Throws
// UsageError for a file that cannot be read, and for a line of another schema.
using StepReader = std::function<void(const JsonObject& json, const nlohmann::ordered_json& raw)>;
void for_each_step(const std::filesystem::path& directory, const StepReader& read);
// Returns the rows of every step in the folder. Throws UsageError.
std::vector<StepRows> read_step_rows(const std::filesystem::path& directory);

// Returns the best MFU of a folder's verified steps of training in a format. Throws UsageError that
// says what is missing.
MeasuredMfu best_step_mfu(const std::string& directory, FormatPair format);

// Returns the roofs of a device by the ceilings of these steps; empty without one.
Roofs roofs_of(const std::string& directory, const MeasuredDevice& device,
               const std::vector<StepRows>& steps);

}  // namespace ridgebench
