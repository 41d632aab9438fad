// A line of records.jsonl: it is refused with a UsageError, or what it becomes reads back the same.
#include <cstdlib>
#include <string_view>

#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  std::string written;
  try {
    written = ridgebench::to_json(ridgebench::parse_record(line, "fuzz")).dump();
  } catch (const ridgebench::UsageError&) {
    return 0;
  }
  ++g_inputs_read;
  if (to_json(ridgebench::parse_record(written, "again")).dump() != written) std::abort();
  return 0;
}
