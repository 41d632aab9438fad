// Common parts of the checks of runs and of duels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {

// The answer of `verify` on results.
struct Verified {
  std::vector<std::string> problems = {};  // one line for each thing that is not sound
  // One line for each wrong thing that sound files state: a launch or a row with a wrong result.
  std::vector<std::string> wrong = {};
};

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

// An older file may lack nothing of a value that today's files have, its key, or also the value.
enum class Older : std::uint8_t { nothing, key, key_or_value };

// Compares stored JSON with what follows from other files. Keys that do not follow are not
// compared.
class Comparison {
 public:
  // `place` is that of the value, such as short.seconds.ratio, and ends in its key `name`.
  using Lacks = std::function<Older(const std::string& name, std::string_view place)>;

  explicit Comparison(Checker& check, Lacks lacks) : check_(&check), lacks_(std::move(lacks)) {}

  // `place` is that of both values; empty: they are whole.
  void compare(const nlohmann::ordered_json& stored, const nlohmann::ordered_json& follows,
               const std::string& place);

 private:
  Checker* check_;
  Lacks lacks_;
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

// Adds a problem for each key of environment.json that is missing, or whose value its schema does
// not allow, and for null where only imported results have it.
void check_provenance(const nlohmann::json& environment, std::vector<std::string>& problems);

// Adds a problem if a folder with SHA256SUMS says that its command did not end: environment.json,
// or the file of results, whose last line was cut off. Without SHA256SUMS checksum_problems() says
// so. Throws UsageError for what cannot be read.
void check_end(const std::filesystem::path& directory, const nlohmann::json& environment,
               std::string_view file, std::vector<std::string>& problems);

// The names of the devices that environment.json lists. Throws UsageError, which begins with
// `origin`.
std::set<std::string> listed_devices(const nlohmann::json& environment, const std::string& origin);

}  // namespace ridgebench
