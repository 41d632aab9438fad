#include "harness/results/judged/sheets.hpp"

#include "roofline/device_spec.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

JudgedSheet judged_sheet(const std::string& name) {
  const DeviceSpec spec = open_data_sheet(name);
  JudgedSheet sheet{.name = spec.name,
                    .title = spec.title,
                    .memory = spec.memory.kind,
                    .bytes_per_s = spec.memory.bandwidth_bytes_per_s};
  const Roofs roofs(spec);
  for (const FormatInfo& format : kFormats) {
    if (sum_format(format.format) != Format::fp32) continue;
    const auto tensor = roofs.engine_roof(Engine::tensor, format.format);
    const auto fma = roofs.engine_roof(Engine::fma, format.format);
    const bool by_tensor = tensor && !(fma && fma->per_s > tensor->per_s);
    const auto& best = by_tensor ? tensor : fma;
    if (!best) continue;
    sheet.peaks.push_back(
        {std::string(format.name), by_tensor ? Engine::tensor : Engine::fma, best->per_s});
  }
  return sheet;
}

}  // namespace ridgebench
