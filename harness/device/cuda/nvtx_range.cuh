// A range of NVTX, which profilers show and count within.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace ridgebench {

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

}  // namespace ridgebench
