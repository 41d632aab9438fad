// A management library with one device, GPU-fake, and made-up readings. It lacks functions that
// older drivers lack, and refuses what some devices refuse.
#include <cstring>

namespace {

int device;  // its address is the handle
int open_count = 0;
unsigned power_readings = 0;

int is_device(const void* handle) { return handle == &device ? 0 : 2; }

}  // namespace

extern "C" {

int nvmlInit_v2() {
  ++open_count;
  return 0;
}
int nvmlShutdown() { return --open_count < 0 ? 1 : 0; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  *handle = &device;
  return std::strcmp(uuid, "GPU-fake") == 0 ? 0 : 6;
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::strncpy(text, "580.65.06", length);
  return 0;
}
int nvmlDeviceGetClockInfo(void* handle, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? 1755 : 2619;
  return is_device(handle);
}
int nvmlDeviceGetMaxClockInfo(void* handle, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : 2619;
  return is_device(handle);
}
int nvmlDeviceGetPowerUsage(void* handle, unsigned* milliwatts) {
  *milliwatts = 999000;  // a mean that nothing should read, because the device has instant power
  return is_device(handle);
}
int nvmlDeviceGetEnforcedPowerLimit(void* handle, unsigned* milliwatts) {
  *milliwatts = 700000;
  return is_device(handle);
}
int nvmlDeviceGetTotalEnergyConsumption(void* handle, unsigned long long* millijoules) {
  *millijoules = 5000;
  return is_device(handle);
}
int nvmlDeviceGetTemperature(void* /*handle*/, unsigned /*sensor*/, unsigned* /*celsius*/) {
  return 3;  // not supported
}
// The name before driver 535.
int nvmlDeviceGetCurrentClocksThrottleReasons(void* handle, unsigned long long* reasons) {
  *reasons = 0x4 | 0x40;
  return is_device(handle);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, void* /*list*/) {
  *count = 3;
  return handle == &device ? 7 : 2;  // the list is too small
}
int nvmlDeviceGetEccMode(void* handle, unsigned* current, unsigned* pending) {
  *current = 1;
  *pending = 0;
  return is_device(handle);
}
// No nvmlDeviceGetMigMode, nvmlDeviceGetComputeMode and nvmlDeviceGetMaxPcieLinkWidth.
int nvmlDeviceGetPowerManagementDefaultLimit(void* handle, unsigned* milliwatts) {
  *milliwatts = 650000;
  return is_device(handle);
}
int nvmlDeviceGetPowerManagementLimitConstraints(void* handle, unsigned* least, unsigned* most) {
  *least = 200000;
  *most = 700000;
  return is_device(handle);
}
int nvmlDeviceGetApplicationsClock(void* handle, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? 1830 : 2619;
  return is_device(handle);
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* handle, unsigned* generation) {
  *generation = 4;
  return is_device(handle);
}
int nvmlDeviceGetMaxPcieLinkGeneration(void* handle, unsigned* generation) {
  *generation = 5;
  return is_device(handle);
}
int nvmlDeviceGetCurrPcieLinkWidth(void* handle, unsigned* lanes) {
  *lanes = 16;
  return is_device(handle);
}
int nvmlDeviceGetVbiosVersion(void* handle, char* text, unsigned length) {
  std::strncpy(text, "96.00.99.00.01", length);
  return is_device(handle);
}
int nvmlDeviceGetBoardPartNumber(void* /*handle*/, char* /*text*/, unsigned /*length*/) {
  return 3;  // not supported
}
int nvmlDeviceGetInforomImageVersion(void* handle, char* text, unsigned length) {
  std::strncpy(text, "G520.0200.00.05", length);
  return is_device(handle);
}
int nvmlDeviceGetGspFirmwareVersion(void* handle, char* text) {
  std::strcpy(text, "580.65.06");
  return is_device(handle);
}
int nvmlDeviceGetPerformanceState(void* handle, unsigned* state) {
  *state = 32;  // unknown
  return is_device(handle);
}
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_us;
  int type;
  int status;
  unsigned long long value;
};
// The memory has 61 degrees. The instant power is 100 W, then 300 W, then 200 W for good.
int nvmlDeviceGetFieldValues(void* handle, int count, FieldValue* fields) {
  for (FieldValue* field = fields; field != fields + count; ++field) {
    field->status = field->field == 82 || field->field == 186 ? 0 : 3;
    field->type = 1;
    field->value = 61;
    if (field->field != 186) continue;
    const unsigned reading = power_readings++;
    field->value = reading == 0 ? 100000 : reading == 1 ? 300000 : 200000;
  }
  return is_device(handle);
}
int nvmlDeviceGetPersistenceMode(void* handle, unsigned* mode) {
  *mode = 0;
  return is_device(handle);
}
struct ViolationTime {
  unsigned long long reference_us;
  unsigned long long violation_ns;
};
// 1.5 s by power, 0.25 s by heat.
int nvmlDeviceGetViolationStatus(void* handle, unsigned limit, ViolationTime* time) {
  *time = {1, limit == 0 ? 1500000000ULL : 250000000ULL};
  return limit < 2 ? is_device(handle) : 3;
}
int nvmlDeviceGetTotalEccErrors(void* handle, unsigned kind, unsigned period,
                                unsigned long long* count) {
  *count = 12;
  return kind == 0 && period == 0 ? is_device(handle) : 3;
}
// Two XIDs wait at the second look, and none after it.
int event_looks = 0;
int nvmlEventSetCreate(void** events) {
  event_looks = 0;
  *events = &event_looks;
  return 0;
}
int nvmlEventSetFree(void* /*events*/) { return 0; }
int nvmlDeviceRegisterEvents(void* handle, unsigned long long types, void* /*events*/) {
  return types == 8 ? is_device(handle) : 3;
}
int nvmlEventSetWait_v2(void* /*events*/, void* /*data*/, unsigned timeout_ms) {
  constexpr int kTimeout = 10;
  const int look = event_looks++;
  return timeout_ms == 0 && (look == 1 || look == 2) ? 0 : kTimeout;
}
int nvmlDeviceGetRemappedRows(void* handle, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failed) {
  *corrected = 3;
  *uncorrected = 1;
  *pending = 1;
  *failed = 0;
  return is_device(handle);
}
// A replay more at each look.
int nvmlDeviceGetPcieReplayCounter(void* handle, unsigned* count) {
  static unsigned replays = 4;
  *count = ++replays;
  return is_device(handle);
}
// Six links, the first two of which are down.
int nvmlDeviceGetNvLinkState(void* handle, unsigned link, unsigned* active) {
  *active = link < 2 ? 0 : 1;
  return link < 6 ? is_device(handle) : 2;
}
}
