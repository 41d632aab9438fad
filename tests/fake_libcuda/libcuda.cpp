// Stands for NVIDIA's driver library, libcuda.so.1, as the CUDA runtime calls it: a driver that
// refuses to start, for the reason that FAKE_CUDA_ERROR names (a CUresult), or that serves an older
// CUDA (FAKE_CUDA_VERSION, 13000 for 13.0). It has two GPUs, of which CUDA_VISIBLE_DEVICES hides
// some; without an error, they are broken.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr int kNoDevice = 100;
constexpr int kUnknown = 999;
constexpr std::string_view kUuids[]{"GPU-0aa0e1f2-3c4d-5e6f-7081-92a3b4c5d6e7",
                                    "GPU-0bb0e1f2-3c4d-5e6f-7081-92a3b4c5d6e7"};

int number(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool names_a_gpu(std::string_view entry) {
  if (entry == "0" || entry == "1") return true;
  for (const std::string_view uuid : kUuids) {
    if (entry.size() > 4 && uuid.starts_with(entry)) return true;
  }
  return false;
}

// The driver ignores what follows the first entry that names no GPU. Source: CUDA C++ Programming
// Guide, "CUDA Environment Variables".
bool shows_a_gpu() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return true;
  const std::string_view entries = visible;
  return names_a_gpu(entries.substr(0, entries.find(',')));
}

// Stands for every function that the runtime requests and this library lacks.
int broken() { return kUnknown; }

}  // namespace

extern "C" {

int cuInit(unsigned /*flags*/) {
  const int error = number("FAKE_CUDA_ERROR", 0);
  return error == 0 && !shows_a_gpu() ? kNoDevice : error;
}

int cuDriverGetVersion(int* version) {
  *version = number("FAKE_CUDA_VERSION", 99000);
  return 0;
}

int cuGetProcAddress_v2(const char* symbol, void** function, int /*version*/,
                        std::uint64_t /*flags*/, int* status) {
  const std::string name = symbol;
  if (name == "cuInit") {
    *function = reinterpret_cast<void*>(&cuInit);
  } else if (name == "cuDriverGetVersion") {
    *function = reinterpret_cast<void*>(&cuDriverGetVersion);
  } else if (name == "cuGetProcAddress") {
    *function = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  } else {
    *function = reinterpret_cast<void*>(&broken);
  }
  if (status != nullptr) *status = 0;
  return 0;
}
}
