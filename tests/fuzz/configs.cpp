// A file of --config: each command ends with an exit code other than that of an internal error.
#include <string>

#include "tests/fuzz/answer.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/temporary_directory.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ridgebench::TemporaryDirectory folder;
  const std::string path = folder / "config.toml";
  ridgebench::write_text(path, std::string(reinterpret_cast<const char*>(data), size));
  bool all = true;
  for (const char* command : {"info", "number", "predict"}) {
    all &= ridgebench::answer({command, "--config", path});
  }
  for (const char* what : {"train", "einsum"}) {
    all &= ridgebench::answer({"plan", what, "--config", path});
  }
  if (all) ++g_inputs_read;
  return 0;
}
