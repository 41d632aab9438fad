#include "harness/results/record.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

constexpr const char* kOrigin = "run/records.jsonl:7";

Record parse(const ordered_json& record) { return parse_record(record.dump(), kOrigin); }

// The message must be one line that starts with file and line and names the key.
void expect_refused(const ordered_json& record, const std::string& key) {
  EXPECT_THAT([&] { parse(record); },
              ThrowsMessage<UsageError>(AllOf(StartsWith(std::string(kOrigin) + ":"),
                                              HasSubstr(key), Not(HasSubstr("\n")))))
      << key << " = " << (record.contains(key) ? record[key].dump() : "missing");
}

TEST(RecordJson, AFullRecordSurvivesARoundTrip) {
  const ordered_json written = to_json(sample_record());
  for (const auto& [key, value] : written.items()) {
    EXPECT_TRUE(!value.is_null() || key == "reason") << key << " is not covered";
  }
  EXPECT_EQ(to_json(parse(written)).dump(), written.dump());
}

TEST(RecordJson, ARowThatWasNotMeasuredSurvivesARoundTrip) {
  for (const Status status : {Status::skipped, Status::wrong, Status::invalid, Status::failed}) {
    Record record = skipped_record("copy/fast/bf16/n:1000/steady@cpu");
    record.status = status;
    const ordered_json written = to_json(record);
    EXPECT_EQ(written.at("status"), name(status));
    EXPECT_TRUE(written.at("time_median_s").is_null());
    EXPECT_TRUE(written.at("bytes_per_s").is_null());
    EXPECT_EQ(to_json(parse(written)).dump(), written.dump());
  }
}

TEST(RecordJson, NvmlsClockIsComparedWithTheMeasuredOne) {
  Record record = sample_record();
  EXPECT_DOUBLE_EQ(to_json(record).at("nvml_clock_excess_hz").get<double>(), 1.5e8);
  record.clock_hz = 2.75e9;
  EXPECT_DOUBLE_EQ(record.nvml_clock_excess_hz().value(), -1e8);
  record.clock_hz.reset();
  EXPECT_FALSE(record.nvml_clock_excess_hz().has_value());
  record = sample_record();
  record.telemetry = {{"sm_clock_hz", nullptr}};
  EXPECT_TRUE(to_json(record).at("nvml_clock_excess_hz").is_null());
}

TEST(RecordJson, RatesAndIntensityFollowFromWorkAndMedian) {
  const ordered_json written = to_json(sample_record());
  EXPECT_DOUBLE_EQ(written.at("flops_per_s").get<double>(), 3000 / 1.1e-6);
  EXPECT_DOUBLE_EQ(written.at("bytes_per_s").get<double>(), 4000 / 1.1e-6);
  EXPECT_DOUBLE_EQ(written.at("intensity_flop_per_byte").get<double>(), 0.75);
}

TEST(RecordJson, WorkThatIsNotThereHasNoRate) {
  Record record = sample_record();
  record.flops = 0;
  EXPECT_TRUE(to_json(record).at("flops_per_s").is_null());
  EXPECT_EQ(to_json(record).at("intensity_flop_per_byte"), 0);
  record.bytes = 0;
  EXPECT_TRUE(to_json(record).at("intensity_flop_per_byte").is_null());
}

TEST(RecordJson, AnOutputThatIsNoNumberIsStrictJson) {
  Record record = skipped_record("copy/fast/bf16/n:1000/steady@cpu");
  record.status = Status::wrong;
  record.verify = Verification{.error = std::numeric_limits<double>::infinity(),
                               .tolerance = 1e-3,
                               .elements = 10,
                               .exact = false};
  const ordered_json written = to_json(record);
  EXPECT_TRUE(written.at("verify").at("error").is_null());
  const Record read = parse(written);
  ASSERT_TRUE(read.verify);
  EXPECT_FALSE(read.verify->passed());
}

TEST(RecordJson, EveryKeyIsNeeded) {
  const ordered_json whole = to_json(sample_record());
  // A reader computes some keys from others, and older records lack some.
  std::vector<std::string> spared;
  for_each_key<Record>([&]<class K>(const K& key) {
    if constexpr (requires { key.absence; }) {
      if (K::kDerived || key.absence == Absence::not_in_oldest) spared.emplace_back(key.name);
    }
  });
  for (const auto& [key, value] : whole.items()) {
    if (std::ranges::find(spared, key) != spared.end()) continue;
    ordered_json without = whole;
    without.erase(key);
    expect_refused(without, key);
  }
}

TEST(RecordJson, EveryKeyOfTheWrongTypeIsRefused) {
  const ordered_json whole = to_json(sample_record());
  for (const auto& [key, value] : whole.items()) {
    if (key == "intensity_flop_per_byte" || key.ends_with("_per_s")) continue;
    if (key == "nvml_clock_excess_hz") continue;  // computed, like these
    ordered_json changed = whole;
    changed[key] = value.is_number() ? ordered_json("much") : ordered_json(-1);
    expect_refused(changed, key);
  }
}

TEST(RecordJson, ValuesThatNoRunWritesAreRefused) {
  const std::vector<std::pair<std::string, ordered_json>> changes{
      {"schema", "ridgebench.record/2"},
      {"status", "fine"},
      {"id", ""},
      {"written_fraction", 1.5},
      {"backend", "tpu"},
      {"role", "roof"},
      {"saturates", "disk"},
      {"format", "int4"},
      {"accumulator", "fp8_e4m3xfp8_e5m2"},
      {"accumulator_bits", 0},
      {"isa", "x86-64-v9"},
      {"shape", {{"n", 0}}},
      {"shape", {{"n", 8}, {"layout", "tt"}}},
      {"regime", "hot"},
      {"bound", "luck"},
      {"samples_s", {1e-6, nullptr}},
      {"samples_s", {1e-6, -1e-6}},
      {"samples_per_batch", 0},
      {"flags", {1}},
      {"time_ci_low_s", nullptr},
      {"verify", {{"error", 0.5}, {"tolerance", 0.1}, {"elements", -4}, {"exact", true}}},
      {"verify", {{"error", 0.5}, {"tolerance", 0.1}, {"elements", 4}, {"exact", "yes"}}},
      {"roof", {{"flops_per_s", 1}}},
  };
  for (const auto& [key, value] : changes) {
    ordered_json changed = to_json(sample_record());
    changed[key] = value;
    expect_refused(changed, key);
  }
}

TEST(RecordJson, TheFormerNameOfTheSchemaIsRead) {
  const ordered_json written = to_json(sample_record());
  ordered_json older = written;
  older["schema"] = former(kRecordSchema);
  EXPECT_EQ(to_json(parse(older)).dump(), written.dump());
}

TEST(RecordJson, KeysThatAreYoungerThanPublishedRecordsHaveDefaults) {
  ordered_json older = to_json(sample_record());
  for (const char* key : {"accumulator_bits", "seed", "fill", "samples_per_batch", "burst",
                          "choice", "early", "early_unknown", "roof_unknown"}) {
    older.erase(key);
  }
  for (const char* key : {"witness", "group", "seed"}) older.at("verify").erase(key);
  for (const char* key : {"special_results", "special_results_per_s", "special_ceiling"}) {
    older.at("roof").erase(key);
  }
  const Record read = parse(older);
  EXPECT_FALSE(read.accumulator_bits || read.seed || read.fill || read.burst);
  EXPECT_FALSE(read.verify->witness || read.verify->group || read.verify->seed);
  EXPECT_FALSE(read.choice || read.roof->special_s() || read.roof_unknown);
  EXPECT_EQ(read.samples_per_batch, 1);
}

TEST(RecordJson, OlderConversionsSaturateWhatTheirNameSays) {
  ordered_json older = to_json(sample_record());
  older["role"] = "ceiling";
  older["saturates"] = "sfu";
  EXPECT_EQ(parse(older).saturates, Resource::sfu);
  older["op"] = "convert_narrow";
  EXPECT_EQ(parse(older).saturates, Resource::narrow);
  older["op"] = "convert_widen";
  EXPECT_EQ(parse(older).saturates, Resource::widen);
}

TEST(RecordJson, ATimeBelongsToAnOkRowAndToNoOther) {
  ordered_json untimed = to_json(sample_record());
  untimed["time_median_s"] = nullptr;
  expect_refused(untimed, "time_median_s");
  ordered_json skipped = to_json(sample_record());
  skipped["status"] = "skipped";
  expect_refused(skipped, "time_median_s");
}

TEST(RecordJson, AnImportedRowNeedsNoMoreThanAMedian) {
  ordered_json row = to_json(sample_record());
  row["status"] = "unverified";
  expect_refused(row, "origin");
  row["origin"] = "external";
  for (const char* key : {"time_ci_low_s", "time_ci_high_s", "time_min_s", "time_p10_s"}) {
    row[key] = nullptr;
  }
  EXPECT_EQ(to_json(parse(row)).dump(), row.dump());
  row["status"] = "ok";
  expect_refused(row, "time_ci_low_s");
}

TEST(RecordJson, TextThatIsNotARecordIsRefused) {
  for (const char* text : {"", "{", "nonsense", "[]", "1", "{\"schema\":NaN}", "{\"id\":1e999}"}) {
    EXPECT_THAT([&] { parse_record(text, kOrigin); },
                ThrowsMessage<UsageError>(AllOf(StartsWith(kOrigin), Not(HasSubstr("\n")))))
        << text;
  }
}

class ReadRecords : public ::testing::Test {
 protected:
  std::vector<Record> read(const std::string& text) {
    write_text(folder_ / "records.jsonl", text);
    return read_records(folder_.path().string());
  }

  TemporaryDirectory folder_;
  std::string line_ = to_json(sample_record()).dump() + "\n";
};

TEST_F(ReadRecords, ReadsEveryLine) {
  const std::string other = to_json(sample_record("copy/slow/bf16/n:1000/steady@cpu")).dump();
  EXPECT_EQ(read(line_ + other + "\n").size(), 2U);
  EXPECT_TRUE(read("").empty());
}

TEST_F(ReadRecords, NamesTheRowThatComesTwice) {
  EXPECT_THAT([&] { read(line_ + line_); },
              ThrowsMessage<UsageError>(
                  AllOf(HasSubstr(":2: the row " + sample_record().id), HasSubstr("comes twice"))));
}

TEST_F(ReadRecords, RefusesAnIntervalWithoutItsMedian) {
  ordered_json swapped = to_json(sample_record());
  std::swap(swapped["time_ci_low_s"], swapped["time_ci_high_s"]);
  EXPECT_THAT([&] { read(line_ + swapped.dump() + "\n"); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("records.jsonl:2: time_ci_low_s "),
                                              HasSubstr("are not in this order; allowed: "))));
}

TEST_F(ReadRecords, DropsAHalfLastLine) {
  for (std::size_t kept = 0; kept < line_.size(); kept += 37) {
    EXPECT_EQ(read(line_ + line_.substr(0, kept)).size(), 1U) << kept;
  }
  EXPECT_EQ(read(line_ + line_.substr(0, line_.size() - 1)).size(), 1U)
      << "only its newline misses";
}

TEST_F(ReadRecords, NamesTheLineOfAMistake) {
  EXPECT_THAT([&] { read(line_ + line_.substr(0, 40) + "\n" + line_); },
              ThrowsMessage<UsageError>(HasSubstr("records.jsonl:2:")));
}

TEST(RecordJson, ATimeOfAbsurdRatesIsRefused) {
  for (const double time : {1e-300, 1e300}) {
    ordered_json record = to_json(sample_record());
    for (auto& [key, value] : record.items()) {
      if (key.starts_with("time_") && value.is_number()) value = time;
    }
    expect_refused(record, "time_median_s");
  }
}

TEST_F(ReadRecords, AMissingFileIsNamed) {
  EXPECT_THAT([&] { read_records(folder_.path().string()); },
              ThrowsMessage<UsageError>(HasSubstr("records.jsonl: cannot be read")));
}

// The tests of the figures read these records, so this program must write the same JSON.
TEST(GoldenRecords, SurviveARoundTrip) {
  const std::string folder = RIDGEBENCH_SOURCE_DIR "/tests/data/golden_results";
  const std::vector<Record> records = read_records(folder);
  std::istringstream lines(read_file(folder + "/records.jsonl"));
  const json schema =
      json::parse(read_file(RIDGEBENCH_SOURCE_DIR "/results/schema/record.schema.json"));
  ASSERT_FALSE(records.empty());
  for (const Record& record : records) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const json golden = json::parse(line);
    const json written = json::parse(to_json(record).dump());
    SCOPED_TRACE(record.id);
    for (const std::string key : schema.at("required")) {
      ASSERT_TRUE(written.contains(key)) << key;
      if (key.ends_with("_per_s") && golden.at(key).is_number()) {
        EXPECT_NEAR(written.at(key).get<double>() / golden.at(key).get<double>(), 1, 1e-9) << key;
      } else {
        // Keys of an inner object that are younger than these records are null.
        json same = written.at(key);
        if (golden.at(key).is_object()) {
          for (const auto& [inner, value] : written.at(key).items()) {
            if (value.is_null() && !golden.at(key).contains(inner)) same.erase(inner);
          }
        }
        EXPECT_EQ(same, golden.at(key)) << key;
      }
    }
  }
}

}  // namespace
}  // namespace ridgebench
