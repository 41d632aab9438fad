// A line of duels.jsonl: it is refused with a UsageError, or what it becomes reads back the same,
// and `verify` takes its folder.
#include <cstdlib>
#include <string>

#include "harness/results/duel_record.hpp"
#include "harness/results/verify/verify_duels.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/temporary_directory.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ridgebench::TemporaryDirectory folder;
  static const bool resolved = (ridgebench::Registry::instance().resolve(), true);
  (void)resolved;
  const std::string line(reinterpret_cast<const char*>(data), size);
  std::string written;
  try {
    written = to_json(ridgebench::parse_duel(line, "fuzz")).dump();
  } catch (const ridgebench::UsageError&) {
    return 0;
  }
  ++g_inputs_read;
  if (to_json(ridgebench::parse_duel(written, "again")).dump() != written) std::abort();
  ridgebench::write_text(folder / "environment.json", R"({"devices": [{"name": "sim"}]})");
  ridgebench::write_text(folder / "duels.jsonl", written + '\n');
  try {
    ridgebench::verify_duels(folder.path());
  } catch (const ridgebench::UsageError&) {
  }
  return 0;
}
