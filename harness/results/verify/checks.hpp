// Common parts of the checks of runs and of duels.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {

// Collects the problems of one row.
class Checker {
 public:
  Checker(std::string id, std::vector<std::string>& problems)
      : id_(std::move(id)), problems_(&problems) {}

  void require(bool holds, const std::string& problem);
  void equal(const std::string& key, double stored, double computed);

 private:
  std::string id_;
  std::vector<std::string>* problems_;
};

// The work that a row states.
struct StatedWork {
  const std::string& operation;
  const Shape& shape;
  FormatPair format;
  double flops;
  double bytes;
};

// Compares it with what the operation says. This program may lack an operation that a loaded file,
// another program or another version had; where `may_lack`, that is not a problem.
void check_work(const StatedWork& work, bool may_lack, Checker& check);

// Adds a problem for each missing key of environment.json that says what was measured, and on what.
void check_provenance(const nlohmann::json& environment, std::vector<std::string>& problems);

}  // namespace ridgebench
