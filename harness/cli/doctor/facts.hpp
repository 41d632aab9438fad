// Facts that `doctor` reads about this machine, as JSON: null if the machine does not report them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "roofline/json_pointer.hpp"

namespace ridgebench::doctor {

using Facts = nlohmann::ordered_json;

struct Request {
  std::filesystem::path root = "/";  // of the files in /dev, /proc and /sys that the kernel offers
  double limit_s = 60;               // in which the driver must answer
};

// {build, driver, gpus, libraries, host, python, skipped}; results/schema/doctor.schema.json has
// the keys.
Facts read_facts(const Request& request);

// The parts. The driver's library and NVML are called in processes of their own.
Facts read_build();
Facts read_driver(const Request& request);
// The GPUs that CUDA, NVML or both list, by their PCI address. Tries those that CUDA offers.
Facts read_gpus(const Facts& driver, const Request& request);
Facts read_libraries();
Facts read_host(const Request& request);
// Governors of the processors, each once.
Facts read_governors(const std::filesystem::path& root);
Facts read_python(const Request& request);
// [{device, reason, rows, techniques}] of the standard profile, most rows first.
Facts read_skipped(const Facts& gpus);

}  // namespace ridgebench::doctor
