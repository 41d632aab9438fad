// Finds the GPU of a node that computes other bits than its peers, and its multiprocessor: the vote
// of roofline/ridgebench/fleet/bits.py over the fingerprints of one node. All GPUs run one program
// on one driver.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
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
  // Its multiprocessors are outvoted, so that the GPU has no vote on others.
  bool silent = false;
};

// Finds the GPUs with multiprocessors that others outvote. The multiprocessors of all GPUs vote
// together, because their inputs are the same. If no bits have a majority, the multiprocessors of
// each GPU vote by themselves. Two multiprocessors cannot vote.
std::vector<OddBits> vote_on_units(const std::string& row, std::span<const BitsOfRow> bits);

// Votes on one row of GPUs of one model with one choice, after its multiprocessors. Each GPU has a
// vote for each pass, but those of `silent` and those whose multiprocessors are outvoted have none.
// Two GPUs cannot vote. `names`: of each GPU in a text.
std::vector<OddBits> vote_on_row(const std::string& row, std::span<const BitsOfRow> bits,
                                 const std::vector<std::string>& names,
                                 std::set<std::size_t> silent = {});

// The gravest finding of each GPU, with the number of its others. `records`: of each pass, by name,
// the rows of each GPU by id without @device. `models`: of each GPU.
using RecordsOfPass = std::vector<std::map<std::string, Record>>;
std::vector<OddBits> find_odd_bits(const std::map<std::string, const RecordsOfPass*>& records,
                                   const std::vector<std::string>& models,
                                   const std::vector<std::string>& names);

}  // namespace ridgebench::node
