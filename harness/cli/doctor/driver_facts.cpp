// Facts about the GPUs from the kernel, the CUDA driver and NVML.
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "harness/base/child.hpp"
#include "harness/base/process.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/cli/doctor/facts.hpp"
#include "harness/cli/doctor/kernel_log.hpp"
#include "harness/cli/doctor/listed_device.hpp"
#include "harness/device/cpu/info.hpp"
#include "harness/device/cuda/driver_library.hpp"
#include "harness/device/cuda/nvml.hpp"
#include "harness/device/nvidia_gpu.hpp"
#include "kernels/common/cuda/tensor_instruction.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/json_text.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench::doctor {
namespace {

namespace fs = std::filesystem;

// The result of the child's work, and how it ended: "answered", "hung" or "crashed".
Facts answer_of(Child child, double until_s) {
  const ChildAnswer answer = child.wait(until_s);
  Facts facts = Facts::parse(answer.text, nullptr, false);
  if (!facts.is_object()) facts = Facts::object();
  const bool hung = answer.end == ChildEnd::hung;
  facts["end"] = hung ? "hung" : answer.end == ChildEnd::crashed ? "crashed" : "answered";
  if (answer.end == ChildEnd::crashed) facts["signal"] = answer.signal;
  return facts;
}

template <class Work>
Child in_child(Work work) {
  return Child([work](int descriptor) { write_all(descriptor, json_line(work())); });
}

// "580.65.06": by /sys, else the first word of /proc's line that begins with a digit and has a dot.
std::string module_version(const fs::path& root) {
  if (std::string version = first_line(root / "sys/module/nvidia/version"); !version.empty()) {
    return version;
  }
  const std::string line = first_line(root / "proc/driver/nvidia/version");
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string word = line.substr(at, end - at);
    if (!word.empty() && word[0] >= '0' && word[0] <= '9' && word.find('.') != word.npos) {
      return word;
    }
    at = end + 1;
  }
  return {};
}

// The group that may open the file; empty for root's.
std::string group_of(const fs::path& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0 || status.st_gid == 0) return {};
  const group* const found = getgrgid(status.st_gid);
  return found == nullptr ? std::to_string(status.st_gid) : found->gr_name;
}

Facts kernel_facts(const fs::path& root) {
  Facts files = Facts::array();
  for (const DeviceFile& file : nvidia_device_files(root)) {
    files.push_back({{"file", file.name},
                     {"problem", file.problem.empty() ? Facts(nullptr) : Facts(file.problem)},
                     {"group", group_of(root / file.name.substr(1))}});
  }
  Facts pci = Facts::array();
  for (const PciGpu& gpu : nvidia_pci_gpus(root)) {
    pci.push_back({{"address", gpu.address}, {"driver", gpu.driver}});
  }
  const std::string version = module_version(root);
  const std::string admin =
      value_of_key(root / "proc/driver/nvidia/params", "RmProfilingAdminOnly");
  const std::string system = first_line(root / "proc/version");
  std::error_code unreadable;
  return {{"module", version.empty() ? Facts(nullptr) : Facts(version)},
          {"device_files", files},
          {"uvm_file", fs::exists(root / "dev/nvidia-uvm", unreadable)},
          {"pci", pci},
          {"nouveau", fs::exists(root / "sys/module/nouveau", unreadable)},
          {"wsl", system.find("icrosoft") != system.npos},
          {"counters_for_root_only", admin.empty() ? Facts(nullptr) : Facts(admin == "1")}};
}

bool on_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path file = fs::path(folders.substr(at, end - at)) / program;
    if (access(file.c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

Facts sheet_of_facts(const Facts& gpu) {
  if (flag_at(gpu, "/slice")) return nullptr;
  const DeviceSpec* sheet = match_data_sheet(text_at(gpu, "/model"), text_at(gpu, "/pci_id"));
  if (sheet == nullptr) return {{"name", nullptr}, {"tdp_w", nullptr}};
  return {{"name", sheet->name}, {"tdp_w", nullable(sheet->tdp_w)}};
}

// Adds CUDA's facts about a GPU to an entry that may have NVML's keys already.
void add_cuda(Facts& gpu, const Facts& cuda) {
  for (const auto& [key, value] : cuda.items()) {
    if (key != "index" && !value.is_null()) gpu[key] = value;
  }
  gpu["device"] = fmt::format("cuda:{}", cuda["index"].get<int>());
}

// The entry of NVML with this address; a new one where NVML lists none.
Facts& entry_with(Facts& gpus, const std::string& address) {
  for (Facts& gpu : gpus) {
    if (text_at(gpu, "/pci_address") == address && !address.empty()) return gpu;
  }
  gpus.push_back({{"nvidia_smi", nullptr}});
  return gpus.back();
}

}  // namespace

Machine machine_of_gpu(const Facts& gpu) {
  const auto whole = [&](const char* key) {
    return static_cast<std::int64_t>(number_at(gpu, std::string("/") + key).value_or(0));
  };
  const int sms = static_cast<int>(std::max<std::int64_t>(1, whole("sms")));
  return {.units = sms,
          .compute_capability = static_cast<int>(whole("compute_capability")),
          .caches = {{.level = 2, .bytes = whole("l2_bytes"), .shared_by = sms}},
          .memory_bytes = whole("memory_bytes")};
}

Facts read_driver(const Request& request) {
  const double until_s = steady_s() + request.limit_s;
  const char* const visible = std::getenv(kVisibleDevices);
  Child nvml = in_child([] { return Nvml::survey(); });
  Child cuda = in_child(read_cuda_driver);
  Facts facts{{"kernel", kernel_facts(request.root)},
              {"nvml", answer_of(std::move(nvml), until_s)},
              {"cuda", answer_of(std::move(cuda), until_s)},
              {"visible_devices", visible == nullptr ? Facts(nullptr) : Facts(visible)},
              {"container", container(request.root)},
              {"log", read_kernel_log(request.root)},
              {"ncu", on_path("ncu")}};
  return facts;
}

Facts read_gpus(const Facts& driver, const Request& request) {
  Facts gpus = Facts::array();
  for (Facts gpu : value_at(driver, "/nvml/gpus")) {
    gpu["nvidia_smi"] = gpu["index"];
    gpu.erase("index");
    gpus.push_back(std::move(gpu));
  }
  std::vector<std::pair<std::string, Child>> tried;
  for (const Facts& cuda : value_at(driver, "/cuda/gpus")) {
    add_cuda(entry_with(gpus, text_at(cuda, "/pci_address")), cuda);
    const int index = cuda["index"].get<int>();
    tried.emplace_back(fmt::format("cuda:{}", index), in_child([index] { return try_gpu(index); }));
  }
  const double until_s = steady_s() + request.limit_s;
  for (auto& [device, child] : tried) {
    const Facts answer = answer_of(std::move(child), until_s);
    for (Facts& gpu : gpus) {
      if (text_at(gpu, "/device") == device) gpu["tried"] = answer;
    }
  }
  const Facts& log = value_at(driver, "/log");
  for (Facts& gpu : gpus) {
    gpu["xids"] = xids_of(log, text_at(gpu, "/pci_address"));
    if (!gpu.contains("device")) gpu["device"] = nullptr;
    gpu["data_sheet"] = sheet_of_facts(gpu);
    gpu["no_tensor_roof"] = nullable(no_tensor_roof(machine_of_gpu(gpu)));
  }
  return gpus;
}

}  // namespace ridgebench::doctor
