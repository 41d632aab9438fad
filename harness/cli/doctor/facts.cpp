#include "harness/cli/doctor/facts.hpp"

#include "harness/base/build_info.hpp"

namespace ridgebench::doctor {

Facts read_build() {
  const std::string commit = build_info::commit;
  const std::string cuda = build_info::cuda;
  return {{"version", build_info::version},
          {"commit", commit.empty() ? Facts(nullptr) : Facts(commit)},
          {"dirty", build_info::dirty},
          {"compiler", build_info::compiler},
          {"build_type", build_info::build_type},
          {"cuda", cuda.empty() ? Facts(nullptr) : Facts(cuda)}};
}

Facts read_facts(const Request& request) {
  Facts facts{{"build", read_build()}, {"driver", read_driver(request)}};
  facts["gpus"] = read_gpus(facts["driver"], request);
  facts["python"] = read_python(request);
  facts["host"] = read_host(request);  // starts threads: no process is forked after it
  facts["libraries"] = read_libraries();
  facts["skipped"] = read_skipped(facts["gpus"]);
  return facts;
}

}  // namespace ridgebench::doctor
