// NVML's facts for `doctor` about every GPU of this machine, and what of a GPU wears out.
#include "harness/base/checksum.hpp"
#include "harness/base/loaded_file.hpp"
#include "harness/device/cuda/nvml_calls.hpp"
#include "harness/device/cuda/telemetry.hpp"
#include "harness/device/nvidia_gpu.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// nvmlPciInfo_t
struct PciInfo {
  std::array<char, 16> legacy_address;
  unsigned domain, bus, device;
  unsigned device_id;  // 0x233010de
  unsigned subsystem_id;
  std::array<char, 32> address;  // 00000000:1B:00.0
};

// nvmlMemory_t
struct MemoryUse {
  unsigned long long total, free, used;
};

// nvmlProcessInfo_t
struct RunningProcess {
  unsigned pid;
  unsigned long long used_bytes;  // all bits set: unknown
  unsigned gpu_instance, compute_instance;
};

// nvmlRowRemapperHistogramValues_t
struct SpareRows {
  unsigned max, high, partial, low, none;
};

// nvmlGpuFabricInfo_t
struct Fabric {
  std::array<unsigned char, 16> cluster;
  int status;
  unsigned clique;
  unsigned char state;
};

}  // namespace

ordered_json Nvml::running() const {
  constexpr unsigned kMost = 256;
  std::array<RunningProcess, kMost> list{};
  unsigned count = kMost;
  ordered_json json = ordered_json::array();
  if (call("nvmlDeviceGetComputeRunningProcesses_v3", device_, &count,
           static_cast<void*>(list.data())) != nvml_detail::kSuccess) {
    return json;
  }
  for (unsigned i = 0; i < count && i < kMost; ++i) {
    const bool unknown = list[i].used_bytes == ~0ULL;
    json.push_back(
        {{"pid", list[i].pid},
         {"used_bytes", unknown ? ordered_json(nullptr) : ordered_json(list[i].used_bytes)}});
  }
  return json;
}

std::optional<unsigned> Nvml::slices() const {
  const auto most = read("nvmlDeviceGetMaxMigDeviceCount");
  if (!most) return std::nullopt;
  unsigned count = 0;
  for (unsigned i = 0; i < *most; ++i) {
    if (read<void*>("nvmlDeviceGetMigDeviceHandleByIndex", i)) ++count;
  }
  return count;
}

ordered_json Nvml::condition() const {
  constexpr unsigned kSlowdown = 1;  // nvmlTemperatureThresholds_t
  ordered_json json{{"model", text("nvmlDeviceGetName").value_or("")}};
  if (const auto pci = read<PciInfo>("nvmlDeviceGetPciInfo_v3")) {
    json["pci_address"] = short_pci_address(pci->address.data());
    json["pci_id"] = pci_id_text(pci->device_id & 0xffffU, pci->device_id >> 16U);
  }
  if (const auto uuid = text("nvmlDeviceGetUUID")) json["uuid_hash"] = sha256(*uuid).substr(0, 16);
  if (const auto memory = read<MemoryUse>("nvmlDeviceGetMemoryInfo")) {
    json["memory_bytes"] = memory->total;
    json["free_bytes"] = memory->free;
    json["used_bytes"] = memory->used;
  }
  json["running"] = running();
  nvml_detail::add(json, "slices", slices());
  nvml_detail::add(json, "slowdown_c", read("nvmlDeviceGetTemperatureThreshold", kSlowdown));
  nvml_detail::add(json, "pages_pending", read("nvmlDeviceGetRetiredPagesPendingStatus"));
  if (const auto fabric = read<Fabric>("nvmlDeviceGetGpuFabricInfo")) {
    json["fabric"] = {{"state", fabric->state}, {"status", fabric->status}};
  }
  return json;
}

ordered_json Nvml::wear() const {
  ordered_json json = ordered_json::object();
  constexpr unsigned kLifetime = 1;  // nvmlEccCounterType_t: of the board, not of the driver's time
  ordered_json ecc = ordered_json::object();
  for (const auto& [key, kind] : {std::pair{"corrected", 0U}, std::pair{"uncorrected", 1U}}) {
    nvml_detail::add(ecc, key,
                     read<unsigned long long>("nvmlDeviceGetTotalEccErrors", kind, kLifetime));
  }
  if (!ecc.empty()) json["ecc_lifetime"] = ecc;
  ordered_json pages = ordered_json::object();
  for (const auto& [key, cause] : {std::pair{"single_bit", 0U}, std::pair{"double_bit", 1U}}) {
    unsigned count = 0;  // with no room for addresses the function only counts
    const int status = call("nvmlDeviceGetRetiredPages", device_, cause, &count,
                            static_cast<unsigned long long*>(nullptr));
    if (status == nvml_detail::kSuccess || status == nvml_detail::kInsufficientSize) {
      pages[key] = count;
    }
  }
  if (!pages.empty()) json["retired_pages"] = pages;
  if (const auto rows = read<SpareRows>("nvmlDeviceGetRowRemapperHistogram")) {
    json["spare_rows"] = {{"max", rows->max},
                          {"high", rows->high},
                          {"partial", rows->partial},
                          {"low", rows->low},
                          {"none", rows->none}};
  }
  nvml_detail::add(json, "pcie_replays", read("nvmlDeviceGetPcieReplayCounter"));
  if (ordered_json errors = nvlink_errors(); !errors.empty()) json["nvlink_errors"] = errors;
  return json;
}

ordered_json Nvml::nvlink_errors() const {
  // nvmlNvLinkErrorCounter_t
  constexpr std::array kCounters{"replay", "recovery", "crc_flit", "crc_data"};
  ordered_json errors = ordered_json::object();
  for (unsigned link = 0; link < nvml_detail::kMostNvlinks; ++link) {
    for (unsigned counter = 0; counter < kCounters.size(); ++counter) {
      const auto count = read<unsigned long long>("nvmlDeviceGetNvLinkErrorCounter", link, counter);
      if (!count) continue;
      errors[kCounters[counter]] = errors.value(kCounters[counter], 0ULL) + *count;
    }
  }
  return errors;
}

ordered_json Nvml::survey(const std::string& library) {
  ordered_json json{{"library", nullptr},
                    {"status", nullptr},
                    {"driver", nullptr},
                    {"gpus", ordered_json::array()}};
  const SharedLibrary loaded(library);
  if (!loaded.loaded()) return json;
  json["library"] = loaded_file("libnvidia-ml");
  Nvml nvml(loaded, nullptr);
  const int status = nvml.call("nvmlInit_v2");
  json["status"] = status;
  nvml_detail::Text driver{};
  if (nvml.call("nvmlSystemGetDriverVersion", driver.data(), nvml_detail::kTextBytes) ==
      nvml_detail::kSuccess) {
    json["driver"] = driver.data();
  }
  unsigned count = 0;
  if (status != nvml_detail::kSuccess) return json;
  nvml.call("nvmlDeviceGetCount_v2", &count);
  for (unsigned i = 0; i < count; ++i) {
    const int opened = nvml.call("nvmlDeviceGetHandleByIndex_v2", i, &nvml.device_);
    ordered_json gpu{{"index", i}, {"status", opened}};
    if (opened == nvml_detail::kSuccess) {
      gpu.update(nvml.inventory());
      gpu.update(state_of(nvml));
      gpu.update(nvml.condition());
    }
    json["gpus"].push_back(std::move(gpu));
  }
  return json;
}

}  // namespace ridgebench
