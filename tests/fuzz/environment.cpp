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

template <class Reader>
void refuse_or(const Reader& read) {
  try {
    read();
  } catch (const ridgebench::UsageError&) {
    return;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ridgebench::TemporaryDirectory folder;
  static const bool filled = (keep_two_rows(folder.path()), true);
  (void)filled;
  const std::string path = folder.path();
  ridgebench::write_text(folder / "environment.json",
                         std::string(reinterpret_cast<const char*>(data), size));
  refuse_or([&] { ridgebench::verify_results(path); });
  refuse_or([&] {
    ridgebench::read_request(path);  // refuses what is not an object, before the next one
    ridgebench::require_same_kernels(path);
  });
  refuse_or([&] { ridgebench::open_roofs(path); });
  refuse_or([&] { ridgebench::read_standing(path, {}); });
  refuse_or([&] { ridgebench::best_matmul_mfu(path, ridgebench::Format::bf16); });
  return 0;
}
