// The errors with which CUDA refuses to start. Source: CUDA Driver API reference, "CUresult".
#include <fmt/format.h>

#include <array>

#include "harness/cli/doctor/finding.hpp"

namespace ridgebench::doctor {
namespace {

struct KnownError {
  int status;
  const char* code;
  const char* text;
  const char* help;
};

constexpr const char* kLog = "sudo dmesg | grep -iE 'nvrm|xid'";
constexpr const char* kReload =
    "sudo reboot; or, with no process on a GPU: sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset "
    "nvidia && sudo modprobe nvidia";
constexpr const char* kMps =
    "echo quit | nvidia-cuda-mps-control, then start nvidia-cuda-mps-control -d again; or: unset "
    "CUDA_MPS_PIPE_DIRECTORY";

constexpr std::array kKnown{
    KnownError{2, "gpu_memory_full", "the GPU has no memory left for a context",
               "nvidia-smi --query-compute-apps=pid,used_memory --format=csv shows who holds it"},
    KnownError{34, "libcuda_stub", "libcuda.so.1 is the toolkit's stub, which only links programs",
               "remove the folder lib64/stubs from LD_LIBRARY_PATH"},
    KnownError{35, "driver_too_old", "the driver is older than this program's CUDA",
               "install a newer driver, or take a build for an older CUDA"},
    KnownError{36, "driver_too_old", "the driver is too old for this call",
               "install a newer driver, or take a build for an older CUDA"},
    KnownError{46, "gpu_unavailable",
               "the GPU takes no further process: its compute mode is exclusive and another "
               "process holds it, or it is prohibited",
               "nvidia-smi -q -d COMPUTE,PIDS; with the owner's consent: sudo nvidia-smi -c 0"},
    KnownError{100, "no_device", "the driver offers no GPU", "nvidia-smi -L"},
    KnownError{101, "gpu_not_offered", "the driver does not know the GPU", "nvidia-smi -L"},
    KnownError{214, "ecc_uncorrectable", "an ECC error of the memory could not be corrected",
               "sudo nvidia-smi --gpu-reset; if it comes back, replace the GPU"},
    KnownError{304, "no_permission",
               "the operating system refuses a call of the driver: /dev/nvidia* cannot be opened, "
               "or a control group denies it",
               "ls -l /dev/nvidia*; in a batch job, request a GPU"},
    KnownError{800, "no_permission", "the driver does not permit the call",
               "ls -l /dev/nvidia*; in a container, start it with the NVIDIA runtime"},
    KnownError{
        802, "fabric_manager_missing", "the GPUs of an NVSwitch system wait for the fabric manager",
        "sudo systemctl enable --now nvidia-fabricmanager; its version must be the driver's"},
    KnownError{803, "driver_library_mismatch",
               "libcuda and the kernel's module have different versions, as after an update "
               "without a restart",
               kReload},
    KnownError{804, "compat_not_supported",
               "libcuda is of the package cuda-compat, which serves data center GPUs only, and "
               "not this GPU or this driver",
               "remove the folder compat from LD_LIBRARY_PATH, and install a newer driver"},
    KnownError{805, "mps_failed", "the MPS server cannot be reached", kMps},
    KnownError{806, "mps_failed", "a call of the MPS server failed", kMps},
    KnownError{807, "mps_failed", "the MPS server is not ready", kMps},
    KnownError{808, "mps_full", "the MPS server has all the clients that it takes", kMps},
    KnownError{809, "mps_full", "the MPS server has all the connections that it takes", kMps},
    KnownError{810, "mps_failed", "the MPS server ended this client", kMps},
    KnownError{999, "driver_broken",
               "the driver fails without a reason: often /dev/nvidia-uvm is missing, or the GPU "
               "fell off the bus",
               "sudo nvidia-modprobe -u -c 0, then sudo dmesg | grep -iE 'nvrm|xid'; the last "
               "resort is sudo reboot"}};

}  // namespace

Cause cause_of_cuda_error(int status, const std::string& name) {
  const std::string number =
      fmt::format(" (CUDA error {}{}{})", status, name.empty() ? "" : ", ", name);
  for (const KnownError& known : kKnown) {
    if (known.status == status) return {known.code, known.text + number, known.help};
  }
  return {"cuda_error", "the driver refuses to work" + number, kLog};
}

}  // namespace ridgebench::doctor
