// The soak.jsonl of a results folder: it is refused with a UsageError, or adds up to an answer.
#include <cstdlib>
#include <string>

#include "harness/results/soak_report.hpp"
#include "harness/results/verify/verify_soak.hpp"
#include "kernels/common/error.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/temporary_directory.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ridgebench::TemporaryDirectory folder;
  ridgebench::write_text(folder / "environment.json", R"({"devices": [{"name": "sim"}]})");
  ridgebench::write_text(folder / "soak.jsonl",
                         std::string(reinterpret_cast<const char*>(data), size));
  try {
    const ridgebench::SoakReport report = ridgebench::read_soak(folder.path());
    const nlohmann::ordered_json answer = report.to_json();
    if (answer.at("exit") != static_cast<int>(report.exit_code())) std::abort();
    if (report.counts().empty()) return 0;
    ridgebench::verify_soak(folder.path());
  } catch (const ridgebench::UsageError&) {
    return 0;
  }
  ++g_inputs_read;
  return 0;
}
