// Answers how GPUs vote on their bits, for the test that the vote of a node and that of a fleet
// agree. A line of standard input is a fleet: [{"gpu", "row", "choice", "fingerprint", "units"}]. A
// line of standard output has the odd GPUs: [[gpu, wrong, text]].
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "harness/cli/node/bits.hpp"

namespace {

using nlohmann::json;
using ridgebench::Record;
using namespace ridgebench::node;

json odd_gpus(const json& fleet) {
  RecordsOfPass gpus;
  for (const json& one : fleet) {
    const auto gpu = one.at("gpu").get<std::size_t>();
    if (gpus.size() <= gpu) gpus.resize(gpu + 1);
    Record& record = gpus[gpu][one.at("row").get<std::string>()];
    record.fingerprint = one.at("fingerprint").get<std::string>();
    if (!one.at("choice").is_null()) record.choice = one.at("choice").get<std::string>();
    record.telemetry["unit_fingerprints"] = one.at("units");
  }
  const std::vector<std::string> models(gpus.size(), "one model");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < gpus.size(); ++i) names.push_back(fmt::format("cuda:{}", i));
  json found = json::array();
  for (const OddBits& odd : find_odd_bits({{"isolated", &gpus}}, models, names)) {
    found.push_back({odd.gpu, odd.wrong, odd.text});
  }
  return found;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << odd_gpus(json::parse(line)).dump() << '\n';
  }
}
