// The CUDA driver's library as `doctor` calls it: without the CUDA runtime, so that a build without
// CUDA can say what the driver of this machine offers. Source of the functions, their types and
// numbers: CUDA Driver API reference. Their calls may hang or crash where a driver is broken: the
// caller runs them in a process of their own.
#pragma once

#include <nlohmann/json.hpp>

namespace ridgebench {

// {library: its file, version: 13000 for CUDA 13.0, status: of cuInit, status_name, gpus: [...]}; a
// GPU has index, model, pci_address, compute_capability (90 for 9.0), sms, l2_bytes, memory_bytes,
// slice. Null for what is unknown; a library that is missing leaves all null.
nlohmann::ordered_json read_cuda_driver();

// Opens a context on the GPU, as every CUDA program does, writes a megabyte and waits:
// {status, status_name, call: the function that failed, or null}.
nlohmann::ordered_json try_gpu(int index);

}  // namespace ridgebench
