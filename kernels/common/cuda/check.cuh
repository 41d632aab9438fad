// Status codes of the CUDA runtime as exceptions.
#pragma once

#include <cuda_runtime.h>

#include <source_location>
#include <stdexcept>
#include <string>

#include "kernels/common/error.hpp"

namespace ridgebench::cuda {

// Errors after which the process cannot use the device any more. Source: CUDA Runtime API,
// cudaError_t: those that "leave the process in an inconsistent state".
inline bool device_is_lost(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorDevicesUnavailable:
      return true;
    default:
      return false;
  }
}

// Throws DeviceError where the device is lost, else std::runtime_error; both name file and line of
// the call.
inline void check(cudaError_t status,
                  const std::source_location& where = std::source_location::current()) {
  if (status == cudaSuccess) return;
  const std::string file = where.file_name();
  const std::string text =
      std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ") at " +
      file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(where.line());
  if (device_is_lost(status)) throw DeviceError("the GPU is lost: " + text);
  static_cast<void>(
      cudaGetLastError());  // clears an error that is not sticky, or the next check would throw
  throw std::runtime_error(text);
}

}  // namespace ridgebench::cuda
