// The node.json of a run or a soak over all GPUs: each function that reads it throws nothing but a
// UsageError.
#include <string>

#include "harness/cli/node/node_run.hpp"
#include "harness/results/verify/node_passes.hpp"
#include "kernels/common/error.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/temporary_directory.hpp"

namespace {

using namespace ridgebench::node;

// True if the reader of this work took the file.
bool resumes(const std::filesystem::path& folder, const NodeWork& work) {
  try {
    static_cast<void>(read_node_run(folder, work).code());
  } catch (const ridgebench::UsageError&) {
    return false;
  }
  return true;
}

bool is_checked(const std::filesystem::path& folder) {
  try {
    const StatedNode node = read_stated_node(folder, "node.json");
    for (const StatedPass& pass : node.passes) static_cast<void>(pass.text());
    const std::filesystem::path results = "isolated/cpu";
    problems_of_node(folder, node, {&results, 1});
  } catch (const ridgebench::UsageError&) {
    return false;
  }
  return true;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ridgebench::TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "isolated/cpu");
  ridgebench::write_text(folder / "isolated/cpu/environment.json",
                         R"({"devices": [{"name": "cpu", "uuid_hash": null}], "host": {}})");
  ridgebench::write_text(folder / "node.json",
                         std::string(reinterpret_cast<const char*>(data), size));
  const bool checked = is_checked(folder.path());
  const bool run = resumes(folder.path(), kRunWork);
  if (checked && run) ++g_inputs_read;
  resumes(folder.path(), kSoakWork);
  return 0;
}
