#include "harness/cli/run/refuse_request.hpp"

#include "harness/base/filter.hpp"
#include "harness/measure/selection/selection.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

void refuse_request(const RunRequest& request) {
  static_cast<void>(Filter(request.filter));
  static_cast<void>(Selection(request.names, Registry::instance()));
  if (!request.ceilings.empty()) static_cast<void>(read_devices(request.ceilings));
}

}  // namespace ridgebench
