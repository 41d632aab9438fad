#include "harness/results/verify/results_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/results/files/results_files.hpp"
#include "harness/results/verify/node_passes.hpp"
#include "harness/results/verify/signature.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFleetFile = "fleet.json";
constexpr const char* kReport = "report";  // of a fleet: drawn from the results

bool has_results(const fs::path& folder) {
  std::error_code unknown;
  return fs::exists(folder / "environment.json", unknown) ||
         std::ranges::any_of(kResultsFiles, [&](const ResultsFile& file) {
           return fs::exists(folder / file.name, unknown);
         });
}

// Calls visit(folder, files) for each folder of the tree, relative to it. Links are not followed.
// Throws UnreadableFile for a folder that cannot be read.
void visit_folders(
    const fs::path& tree, const fs::path& folder,
    const std::function<void(const fs::path&, const std::vector<fs::path>&)>& visit) {
  std::vector<fs::path> files;
  std::vector<fs::path> folders;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(tree / folder)) {
      if (entry.is_symlink()) continue;
      const fs::path name = folder / entry.path().filename();
      if (entry.is_regular_file()) files.push_back(name);
      if (entry.is_directory() && name != kReport) folders.push_back(name);
    }
  } catch (const fs::filesystem_error& error) {
    throw UnreadableFile(fmt::format("cannot read {}: {}; allowed: a tree that can be read",
                                     (tree / folder).string(), error.code().message()));
  }
  visit(folder, files);
  if (has_results(tree / folder)) return;
  std::ranges::sort(folders);
  for (const fs::path& below : folders) visit_folders(tree, below, visit);
}

// The files that SHA256SUMS of the tree lists.
std::vector<std::string> summed_files(const fs::path& tree) {
  std::vector<std::string> all;
  visit_folders(tree, "", [&](const fs::path& folder, const std::vector<fs::path>& files) {
    if (has_results(tree / folder)) {
      for (const std::string& file : signed_files(tree / folder)) {
        all.push_back((folder / file).string());
      }
      return;
    }
    for (const fs::path& file : files) {
      const std::string extension = file.extension().string();
      if (extension == ".json" || extension == ".jsonl") all.push_back(file.string());
    }
  });
  std::ranges::sort(all);
  return all;
}

// The nodes of the tree; a node.json that cannot be taken adds a problem.
std::vector<node::StatedNode> nodes_in(const fs::path& tree, std::vector<std::string>& problems) {
  std::vector<node::StatedNode> nodes;
  visit_folders(tree, "", [&](const fs::path& /*folder*/, const std::vector<fs::path>& files) {
    for (const fs::path& file : files) {
      if (file.filename() != kNodeFile) continue;
      try {
        nodes.push_back(node::read_stated_node(tree, file));
      } catch (const UsageError& error) {
        problems.emplace_back(error.what());
      }
    }
  });
  return nodes;
}

// True for the folder of a process that, as node.json says, did not end by itself or lost its GPU.
bool was_left_open(const std::vector<node::StatedNode>& nodes, const fs::path& folder) {
  return std::ranges::any_of(nodes, [&](const node::StatedNode& one) {
    const auto pass = std::ranges::find(one.passes, folder, &node::StatedPass::folder);
    return pass != one.passes.end() && pass->state != node::State::done;
  });
}

// True for a folder whose process ended before it described its run.
bool holds_nothing(const fs::path& folder) {
  std::error_code unknown;
  return !fs::exists(folder / "environment.json", unknown) &&
         std::ranges::all_of(kResultsFiles, [&](const ResultsFile& file) {
           return !fs::exists(folder / file.name, unknown) ||
                  fs::file_size(folder / file.name, unknown) == 0;
         });
}

// Checks a folder; one that `check` refuses has its message as the problem.
Verified check_part(const fs::path& tree, const fs::path& folder, Ending ending,
                    const FolderCheck& check) {
  if (ending == Ending::open && holds_nothing(tree / folder)) return {};
  Verified found;
  try {
    found = check((tree / folder).string(), ending);
    for (std::string& problem : found.problems) {
      problem = fmt::format("{}: {}", folder.string(), problem);
    }
  } catch (const UsageError& error) {
    found.problems.emplace_back(error.what());
  }
  return found;
}

}  // namespace

bool is_results_tree(const fs::path& folder) {
  std::error_code unknown;
  return !has_results(folder) &&
         (fs::exists(folder / kNodeFile, unknown) || fs::exists(folder / kFleetFile, unknown));
}

std::vector<fs::path> results_folders_of(const fs::path& tree) {
  std::vector<fs::path> found;
  visit_folders(tree, "", [&](const fs::path& folder, const std::vector<fs::path>& /*files*/) {
    if (has_results(tree / folder)) found.push_back(folder);
  });
  return found;
}

std::vector<std::string> paths_of_results(const std::string& directory) {
  if (!is_results_tree(directory)) return {directory};
  std::vector<std::string> paths;
  for (const fs::path& folder : results_folders_of(directory)) {
    paths.push_back((directory / folder).string());
  }
  return paths;
}

Verified check_tree(const fs::path& tree, const FolderCheck& check) {
  const std::vector<fs::path> folders = results_folders_of(tree);
  if (folders.empty()) {
    throw UnreadableFile(
        fmt::format("{} holds no results folder; allowed: the folder of a node or of "
                    "a fleet with results",
                    tree.string()));
  }
  Verified found;
  std::vector<std::string>& problems = found.problems;
  const std::vector<node::StatedNode> nodes = nodes_in(tree, problems);
  for (const fs::path& folder : folders) {
    const Ending ending = was_left_open(nodes, folder) ? Ending::open : Ending::whole;
    Verified part = check_part(tree, folder, ending, check);
    std::ranges::move(part.problems, std::back_inserter(problems));
    std::ranges::move(part.wrong, std::back_inserter(found.wrong));
  }
  for (const node::StatedNode& one : nodes) {
    try {
      std::ranges::move(problems_of_node(tree, one, folders), std::back_inserter(problems));
    } catch (const UsageError& error) {
      const bool named = std::ranges::find(problems, error.what()) != problems.end();
      if (!named) problems.emplace_back(error.what());  // its folder may have named it
    }
  }
  return found;
}

std::vector<fs::path> measured_nodes_of(const fs::path& tree) {
  std::vector<std::string> unread;
  std::vector<fs::path> folders;
  for (const node::StatedNode& one : nodes_in(tree, unread)) {
    const bool soaked = std::ranges::any_of(
        one.passes, [](const node::StatedPass& pass) { return pass.pass == "soak"; });
    if (!soaked) folders.push_back(fs::path(one.file).parent_path());
  }
  return folders;
}

std::vector<std::string> states_of_tree(const fs::path& tree) {
  std::vector<std::string> unread;
  std::vector<std::string> states;
  for (const node::StatedNode& one : nodes_in(tree, unread)) {
    for (const node::StatedPass& pass : one.passes) {
      if (pass.state == node::State::done) continue;
      states.push_back(fmt::format("{}: {}", one.file, pass.text()));
    }
  }
  return states;
}

std::vector<std::string> sums_problems_of_tree(const fs::path& tree) {
  std::error_code unknown;
  if (!fs::exists(tree / kSumsFile, unknown)) return {};
  return sums_problems(tree, summed_files(tree));
}

void write_sums_of_tree(const fs::path& tree) { write_sums(tree, summed_files(tree)); }

}  // namespace ridgebench
