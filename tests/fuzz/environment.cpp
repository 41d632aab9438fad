// The environment.json of a results folder with two sound rows: each function that reads it throws
// nothing but a UsageError.
#include <fstream>
#include <string>

#include "harness/results/doubts.hpp"
#include "harness/results/files/resume.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/results/verify/verify_results.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/temporary_directory.hpp"

namespace {

void keep_two_rows(const std::filesystem::path& folder) {
  ridgebench::Registry::instance().resolve();
  std::ifstream all(RIDGEBENCH_SOURCE_DIR "/tests/data/golden_results/records.jsonl");
  std::ofstream rows(folder / "records.jsonl");
  std::string line;
  for (int i = 0; i < 2 && std::getline(all, line); ++i) rows << line << '\n';
}

// True if the reader took the file, and did not refuse it.
template <class Reader>
bool takes(const Reader& read) {
  try {
    read();
  } catch (const ridgebench::UsageError&) {
    return false;
  }
  return true;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ridgebench::TemporaryDirectory folder;
  static const bool filled = (keep_two_rows(folder.path()), true);
  (void)filled;
  const std::string path = folder.path();
  ridgebench::write_text(folder / "environment.json",
                         std::string(reinterpret_cast<const char*>(data), size));
  const bool verified = takes([&] { ridgebench::verify_results(path); });
  const bool asked = takes([&] { ridgebench::read_request(path); });  // refuses what is no object
  if (asked) takes([&] { ridgebench::require_same_kernels(path); });
  const bool roofs = takes([&] { ridgebench::open_roofs(path); });
  const bool standing = takes([&] { ridgebench::read_standing(path, {}); });
  takes([&] { ridgebench::best_matmul_mfu(path, ridgebench::Format::bf16); });  // has no matmul
  if (verified && asked && roofs && standing) ++g_inputs_read;
  return 0;
}
