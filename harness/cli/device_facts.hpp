// What `info` shows of devices: a line each, and with --on the numbers of one with their sources.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ridgebench {

// Returns a data sheet with the source and the doubt of each number, or the roofs that a results
// directory measured with the rows that reached them. Throws UsageError.
nlohmann::ordered_json device_facts(const std::string& device);

void print_device_facts(const nlohmann::ordered_json& facts);

// Prints a line of each data sheet, by vendor and architecture: what one compares devices by.
void print_data_sheets();

}  // namespace ridgebench
