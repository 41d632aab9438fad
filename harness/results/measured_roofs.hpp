// The devices of a results directory: the roofs that its ceilings
// draw, and the MFU that its rows reached.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/results/record.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

// The rate that a row vouches for; empty unless the row is a verified steady ceiling, no burst, of
// the memory, of an engine at its full rate with fp32 accumulation, of the special functions, or of
// conversions. The bandwidth of a cache is not a roof, nor is that of a row which caches may serve.
std::optional<Rate> ceiling_rate(const Record& record);

// A row above its measured roof by more than this share raises the roof. Ceilings that are measured
// again differ by less.
inline constexpr double kRoofMargin = 0.01;
inline constexpr const char* kAboveRoof = "above_roof";
// The flag of a row whose data the caches may hold between two launches: all of a warm row, or
// those of a steady row that rotates over fewer bytes than its device asks for. Such a row measured
// another thing than the ceilings of the memory. It raises no roof, and heads no figure.
inline constexpr const char* kServedByCache = "served_by_cache";
// True if caches may have served a row, and arithmetic does not limit it: a share of the memory's
// roof says nothing of it.
bool served_by_cache(const Record& record);
// The flag of a rotation that moves fewer bytes than empty the caches.
inline constexpr const char* kShortRotation = "short_rotation";
// The flag of a ceiling whose instructions do not reach the engine's full rate.
inline constexpr const char* kPartialRate = "partial_rate";

// A product of matrices, whose FLOPs may raise the roof of an engine: a row of an operation of the
// program that tensor engines may do, and no ceiling.
bool is_product(const Record& record);

// True if a verified row of the steady regime is that much faster than a ceiling of its roof, and
// the caches did not serve it.
bool above_roof(const Record& record);

struct MeasuredDevice {
  std::string name;  // "cpu", "cuda:0"
  std::string model;
  std::optional<double> memory_bytes;
  std::string data_sheet = {};  // empty: none
  std::optional<double> launch_floor_s = std::nullopt;
  bool borrows_ceilings = false;  // `run --ceilings` took some from another run
};
// The devices that DIR/environment.json lists. Throws UsageError.
std::vector<MeasuredDevice> read_devices(const std::string& directory);

// Returns roofs without rates: the name, the memory and the launch floor of a directory's device,
// and the peaks of its data sheet.
Roofs unmeasured_roofs(const std::string& directory, const MeasuredDevice& device);

// Returns the roofs that the verified rows of a directory's device draw; empty without ceilings.
// The ceilings are those of the run, and those that it took from another run. A roof is the best
// that a ceiling or a verified steady row reached, and a storage format has the peak of the format
// that its products did arithmetic in.
Roofs roofs_of(const std::string& directory, const MeasuredDevice& device,
               const std::vector<Record>& records);

struct ResultsOfDevice {
  std::string directory;
  std::string device;  // as in environment.json; empty: the only one that has ceilings
};
// Returns what DIR or DIR@cpu represents; empty if `device` names no directory.
std::optional<ResultsOfDevice> results_of(const std::string& device);

// DEVICE of the command line: a data sheet's name or alias, a data sheet file, or a results
// directory, with @cpu or @cuda:0 appended if it holds several devices. Throws UsageError.
Roofs open_roofs(const std::string& device);

struct MeasuredMfu {
  double mfu;
  std::string id;           // of the row
  std::string data_sheet;   // whose peak it is a share of
  std::string remark = {};  // its power state, and that the run could not finish the row
};
// The best MFU of a directory's verified steady matmul rows in a format, of those that the run
// could finish if there is one. A training run stays below it: not all of its FLOPs are matmuls of
// the best size. Throws UsageError that says what is missing; rows of a host have no MFU, since no
// data sheet promises anything of it.
MeasuredMfu best_matmul_mfu(const std::string& directory, FormatPair format);

}  // namespace ridgebench
