// A data sheet: it is refused with a UsageError, or all that the model divides by is positive.
#include <cstdlib>
#include <string_view>

#include "kernels/common/error.hpp"
#include "roofline/device_spec.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const ridgebench::DeviceSpec sheet = ridgebench::parse_data_sheet(text, "fuzz");
    bool sound = sheet.sms > 0 && sheet.memory.bandwidth_bytes_per_s > 0 && !sheet.peaks.empty();
    for (const ridgebench::Peak& peak : sheet.peaks) sound = sound && peak.flops_per_s > 0;
    if (!sound) std::abort();
    ++g_inputs_read;
  } catch (const ridgebench::UsageError&) {
    return 0;
  }
  return 0;
}
