// Finds the GPU of a node that computes other bits than its peers, and its multiprocessor: the vote
// of roofline/ridgebench/fleet/bits.py over the fingerprints of one node. All GPUs run one program
// on one driver.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/results/record.hpp"

namespace ridgebench::node {

// The bits of a row on one GPU in one pass.
struct BitsOfRow {
  std::size_t gpu;  // its number in the node
  std::string pass;
  std::string fingerprint;
  std::vector<std::string> units;  // of each multiprocessor; empty if the row has no such
};

// A GPU whose bits differ from the majority, or from another GPU if no majority decides.
struct OddBits {
  std::size_t gpu;
  bool wrong;
  std::string text;
};

// Votes on one row of GPUs of one model with one choice. Each GPU has a vote for each pass, and
// each multiprocessor one, because their inputs are the same. Two GPUs cannot vote, and neither can
// two multiprocessors. `name_of` names the GPU in a text.
std::vector<OddBits> vote_on_row(const std::string& row, std::span<const BitsOfRow> bits,
                                 const std::vector<std::string>& names);

// The gravest finding of each GPU, with the number of its others. `records`: of each pass, by name,
// the rows of each GPU by id without @device. `models`: of each GPU.
using RecordsOfPass = std::vector<std::map<std::string, Record>>;
std::vector<OddBits> find_odd_bits(const std::map<std::string, const RecordsOfPass*>& records,
                                   const std::vector<std::string>& models,
                                   const std::vector<std::string>& names);

}  // namespace ridgebench::node
