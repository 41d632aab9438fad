// Feeds the files of a folder to a target, where there is no libFuzzer: any crash fails the test,
// and so does a corpus of which no file is read.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "tests/fuzz/target.hpp"

int main(int argc, char** argv) {
  int files = 0;
  for (const char* folder : std::vector<const char*>(argv + 1, argv + argc)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> data((std::istreambuf_iterator<char>(file)), {});
      std::cout << entry.path().filename().string() << std::endl;  // the last one names a crash
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(data.data()), data.size());
      ++files;
    }
  }
  std::cout << files << " inputs, of which " << g_inputs_read << " are read\n";
  return g_inputs_read > 0 ? 0 : 1;
}
