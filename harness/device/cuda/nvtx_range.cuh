// A range of NVTX, which profilers show and count within; there is none where the toolkit has no
// headers of NVTX 3.
#pragma once

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

#include <string>

namespace ridgebench {

#if __has_include(<nvtx3/nvToolsExt.h>)

// From construction to destruction, in the domain `ridgebench`. Without a name there is no range.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name) : open_(!name.empty()) {
    if (!open_) return;
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name.c_str();
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  NvtxRange(const NvtxRange&) = delete;  // pops once
  NvtxRange& operator=(const NvtxRange&) = delete;
  ~NvtxRange() {
    if (open_) nvtxDomainRangePop(domain());
  }

 private:
  static nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t ours = nvtxDomainCreateA("ridgebench");
    return ours;
  }
  bool open_;
};

#else

class NvtxRange {
 public:
  explicit NvtxRange(const std::string& /*name*/) {}
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
  ~NvtxRange() {}  // without it an unused range would be a warning
};

#endif

}  // namespace ridgebench
