// A management library for whole machines, under the name by which programs load NVML. It has
// FAKE_NVML_GPUS healthy GPUs (2), and FAKE_GPU (all of them) or FAKE_GPU_<index> changes readings:
// "mig=1 slices=0 open=15". FAKE_NVML_ERROR is what nvmlInit returns, FAKE_NVML_HANGS=1 keeps it
// from returning. It represents a driver of version 580.65.06.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

int number(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

// The value of "key=" in a variable; false if it has none.
bool find(const std::string& variable, const std::string& key, std::string& value) {
  const char* const settings = std::getenv(variable.c_str());
  if (settings == nullptr) return false;
  const std::string text = ' ' + std::string(settings);
  const std::size_t at = text.find(' ' + key + '=');
  if (at == std::string::npos) return false;
  const std::size_t start = at + key.size() + 2;
  value = text.substr(start, text.find(' ', start) - start);
  return true;
}

// A handle is the address of the GPU's element.
constexpr int kMostGpus = 16;
char gpus[kMostGpus];

long long setting(const void* handle, const char* key, long long otherwise) {
  const auto index = static_cast<const char*>(handle) - gpus;
  std::string value;
  if (find("FAKE_GPU_" + std::to_string(index), key, value) || find("FAKE_GPU", key, value)) {
    return std::atoll(value.c_str());
  }
  return otherwise;
}

constexpr int kNotSupported = 3;

template <class Number>
int put(const void* handle, Number* to, const char* key, long long otherwise) {
  const long long value = setting(handle, key, otherwise);
  if (value < 0) return kNotSupported;
  *to = static_cast<Number>(value);
  return 0;
}

struct PciInfo {
  char legacy_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};
struct MemoryUse {
  unsigned long long total, free, used;
};
struct RunningProcess {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
struct SpareRows {
  unsigned max, high, partial, low, none;
};
struct FabricInfo {
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
};
struct ViolationTime {
  unsigned long long reference_us, violation_ns;
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (number("FAKE_NVML_HANGS", 0) != 0) pause();
  return number("FAKE_NVML_ERROR", 0);
}
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::snprintf(text, length, "580.65.06");
  return number("FAKE_NVML_ERROR", 0);
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(number("FAKE_NVML_GPUS", 2));
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  *handle = &gpus[index];
  return static_cast<int>(setting(*handle, "open", 0));
}
int nvmlDeviceGetName(void* /*handle*/, char* text, unsigned length) {
  const char* const name = std::getenv("FAKE_GPU_NAME");
  std::snprintf(text, length, "%s", name == nullptr ? "NVIDIA H100 80GB HBM3" : name);
  return 0;
}
int nvmlDeviceGetUUID(void* handle, char* text, unsigned length) {
  std::snprintf(text, length, "GPU-%d", static_cast<int>(static_cast<char*>(handle) - gpus));
  return 0;
}
int nvmlDeviceGetPciInfo_v3(void* handle, PciInfo* info) {
  const int index = static_cast<int>(static_cast<char*>(handle) - gpus);
  *info = {};
  constexpr unsigned kH100 = 0x2330;
  info->device_id = static_cast<unsigned>(setting(handle, "pci", kH100)) << 16U | 0x10deU;
  std::snprintf(info->address, sizeof info->address, "00000000:%02X:00.0", 0x1b + index);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* handle, MemoryUse* memory) {
  memory->total = 80ULL << 30U;
  memory->used = static_cast<unsigned long long>(setting(handle, "used_mib", 512)) << 20U;
  memory->free = memory->total - memory->used;
  return 0;
}
// The list's length is that of the caller's array; its processes have the PIDs 4242, 4243, ...
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, RunningProcess* list) {
  const auto running = static_cast<unsigned>(setting(handle, "processes", 0));
  const bool fits = *count >= running;
  for (unsigned i = 0; fits && i < running; ++i) list[i] = {4242 + i, 3ULL << 30U, 0, 0};
  *count = running;
  return fits ? 0 : 7;
}
int nvmlDeviceGetClockInfo(void* handle, unsigned type, unsigned* mhz) {
  return put(handle, mhz, type == 1 ? "sm_mhz" : "memory_mhz", type == 1 ? 345 : 2619);
}
int nvmlDeviceGetMaxClockInfo(void* handle, unsigned type, unsigned* mhz) {
  return put(handle, mhz, "max_mhz", type == 1 ? 1980 : 2619);
}
int nvmlDeviceGetApplicationsClock(void* handle, unsigned type, unsigned* mhz) {
  return put(handle, mhz, "application_mhz", type == 1 ? 1980 : 2619);
}
int nvmlDeviceGetCurrentClocksEventReasons(void* handle, unsigned long long* reasons) {
  return put(handle, reasons, "events", 1);  // idle
}
int nvmlDeviceGetTemperature(void* handle, unsigned /*sensor*/, unsigned* celsius) {
  return put(handle, celsius, "celsius", 31);
}
int nvmlDeviceGetTemperatureThreshold(void* handle, unsigned /*threshold*/, unsigned* celsius) {
  return put(handle, celsius, "slowdown", 87);
}
int nvmlDeviceGetEnforcedPowerLimit(void* handle, unsigned* milliwatts) {
  return put(handle, milliwatts, "limit_mw", 700000);
}
int nvmlDeviceGetPowerManagementDefaultLimit(void* handle, unsigned* milliwatts) {
  return put(handle, milliwatts, "default_mw", 700000);
}
int nvmlDeviceGetMigMode(void* handle, unsigned* current, unsigned* pending) {
  *pending = 0;
  return put(handle, current, "mig", 0);
}
int nvmlDeviceGetMaxMigDeviceCount(void* /*handle*/, unsigned* count) {
  *count = 7;
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void* handle, unsigned index, void** slice) {
  *slice = handle;
  return index < setting(handle, "slices", 0) ? 0 : 6;
}
int nvmlDeviceGetEccMode(void* handle, unsigned* current, unsigned* pending) {
  static_cast<void>(put(handle, pending, "pending_ecc", setting(handle, "ecc", 1)));
  return put(handle, current, "ecc", 1);
}
int nvmlDeviceGetTotalEccErrors(void* handle, unsigned kind, unsigned period,
                                unsigned long long* count) {
  const std::string key = std::string(period == 0 ? "" : "life_") + (kind == 0 ? "" : "un");
  return put(handle, count, (key + "corrected").c_str(), 0);
}
int nvmlDeviceGetRetiredPages(void* handle, unsigned cause, unsigned* count,
                              unsigned long long* /*addresses*/) {
  const int found = put(handle, count, cause == 0 ? "pages_single" : "pages_double", 0);
  return found == 0 && *count > 0 ? 7 : found;  // too little room for the addresses
}
int nvmlDeviceGetRowRemapperHistogram(void* handle, SpareRows* rows) {
  *rows = {640, 0, 0, 0, 0};
  return put(handle, &rows->none, "banks_empty", 0);
}
int nvmlDeviceGetPcieReplayCounter(void* handle, unsigned* count) {
  return put(handle, count, "replays", 0);
}
int nvmlDeviceGetNvLinkErrorCounter(void* handle, unsigned link, unsigned counter,
                                    unsigned long long* count) {
  *count = 0;
  if (link >= 18) return 2;
  return counter == 2 && link < 2 ? put(handle, count, "crc", 0) : 0;
}
int nvmlDeviceGetGpuFabricInfo(void* handle, FabricInfo* info) {
  *info = {};
  static_cast<void>(put(handle, &info->status, "fabric_status", 0));
  return put(handle, &info->state, "fabric", 3);
}
int nvmlDeviceGetPersistenceMode(void* handle, unsigned* mode) {
  return put(handle, mode, "persistence", 1);
}
int nvmlDeviceGetComputeMode(void* handle, unsigned* mode) {
  return put(handle, mode, "compute_mode", 0);
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* handle, unsigned* generation) {
  return put(handle, generation, "generation", 5);
}
int nvmlDeviceGetMaxPcieLinkGeneration(void* handle, unsigned* generation) {
  return put(handle, generation, "max_generation", 5);
}
int nvmlDeviceGetCurrPcieLinkWidth(void* handle, unsigned* lanes) {
  return put(handle, lanes, "lanes", 16);
}
int nvmlDeviceGetMaxPcieLinkWidth(void* handle, unsigned* lanes) {
  return put(handle, lanes, "max_lanes", 16);
}
int nvmlDeviceGetRemappedRows(void* handle, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failed) {
  *corrected = 0;
  *uncorrected = 0;
  static_cast<void>(put(handle, pending, "rows_pending", 0));
  return put(handle, failed, "rows_failed", 0);
}
int nvmlDeviceGetRetiredPagesPendingStatus(void* handle, unsigned* pending) {
  return put(handle, pending, "pages_pending", 0);
}
int nvmlDeviceGetNvLinkState(void* handle, unsigned link, unsigned* active) {
  *active = link < setting(handle, "links_down", 0) ? 0 : 1;
  return link < 18 ? 0 : 2;
}
int nvmlDeviceGetViolationStatus(void* /*handle*/, unsigned /*limit*/, ViolationTime* time) {
  *time = {1, 0};
  return 0;
}
}
