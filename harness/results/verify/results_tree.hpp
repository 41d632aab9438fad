// A tree of results: the folder of a node, which has node.json, or of a fleet, which has
// fleet.json. It holds results folders, each with its own SHA256SUMS. A SHA256SUMS of the whole
// tree, which `publish` writes to sign it, lists their files and the JSON files of node and fleet.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/results/verify/checks.hpp"
#include "harness/results/verify/checksums.hpp"

namespace ridgebench {

// True if the folder is such a tree, and not a results folder.
bool is_results_tree(const std::filesystem::path& folder);

// The results folders of a tree, relative to it, in the order of their names.
std::vector<std::filesystem::path> results_folders_of(const std::filesystem::path& tree);

// The paths of the results folders of a tree; of another folder, its own path.
std::vector<std::string> paths_of_results(const std::string& directory);

// Checks a results folder. Throws UsageError.
using FolderCheck = std::function<Verified(const std::string&, Ending)>;

// Calls `check` for each results folder, and checks that the passes of each node fit together. A
// pass that is not done is sound if node.json says why. Throws UnreadableFile for a tree without
// results, or with a folder that it cannot read.
Verified check_tree(const std::filesystem::path& tree, const FolderCheck& check);

// The folders of the nodes that `run --concurrent` measured, relative to the tree.
std::vector<std::filesystem::path> measured_nodes_of(const std::filesystem::path& tree);

// One line for each pass of a node that is not done: why its GPU was not measured to the end.
std::vector<std::string> states_of_tree(const std::filesystem::path& tree);

// One line for each file that SHA256SUMS lists and that is missing or differs, and for each that it
// should list and does not. None without SHA256SUMS.
std::vector<std::string> sums_problems_of_tree(const std::filesystem::path& tree);

// Writes SHA256SUMS of the tree. Throws StorageError, and UsageError for a file that cannot be
// read.
void write_sums_of_tree(const std::filesystem::path& tree);

}  // namespace ridgebench
