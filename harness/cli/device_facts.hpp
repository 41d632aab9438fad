// Output of `info --on DEVICE`: the numbers of one device, each with its source.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "roofline/device_spec.hpp"

namespace ridgebench {

// Returns all facts of a data sheet, in SI base units, with their sources and doubts.
nlohmann::ordered_json data_sheet_json(const DeviceSpec& sheet);

// Returns a data sheet with the source and the doubt of each number, or the roofs that a results
// directory measured with the rows that reached them. Throws UsageError.
nlohmann::ordered_json device_facts(const std::string& device);

void print_device_facts(const nlohmann::ordered_json& facts);

}  // namespace ridgebench
