// A file of shapes: it is refused with a UsageError, or its lines read back the same and name
// shapes of the registry's operations.
#include <string>

#include "harness/measure/selection/selection.hpp"
#include "harness/measure/selection/shapes_file.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/temporary_directory.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ridgebench::TemporaryDirectory folder;
  static const bool resolved = (ridgebench::Registry::instance().resolve(), true);
  (void)resolved;
  const std::string path = folder / "shapes.txt";
  ridgebench::write_text(path, std::string(reinterpret_cast<const char*>(data), size));
  try {
    ridgebench::CaseNames names;
    for (const ridgebench::ShapeLine& line : ridgebench::read_shapes_file(path)) {
      names.shapes.push_back(line.text());
      if (ridgebench::parse_shape_line(line.text()).text() != line.text()) std::abort();
    }
    const ridgebench::Selection selection(names, ridgebench::Registry::instance());
    if (selection.names_shapes() == names.shapes.empty()) std::abort();
    ++g_inputs_read;
  } catch (const ridgebench::UsageError&) {
    return 0;
  }
  return 0;
}
