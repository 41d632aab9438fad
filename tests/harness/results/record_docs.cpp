// Writes the texts that follow from the list of a record's keys (harness/results/record.hpp):
//   record_docs schema > results/schema/record.schema.json
//   record_docs table      the table of docs/record.md
//   record_docs judged_schema and record_docs judged_table: the same of harness/results/judged
//   record_docs step_schema and record_docs step_table: the same of harness/step
//   record_docs explained_schema and record_docs explained_table: of harness/results/explained
#include "tests/support/record_docs.hpp"

#include <iostream>
#include <string_view>

namespace {

struct Text {
  std::string_view name;
  std::string (*text)();
};
constexpr Text kTexts[] = {{"schema", ridgebench::record_schema},
                           {"table", ridgebench::record_key_table},
                           {"judged_schema", ridgebench::judged_schema},
                           {"judged_table", ridgebench::judged_key_table},
                           {"step_schema", ridgebench::step_schema},
                           {"step_table", ridgebench::step_key_table},
                           {"explained_schema", ridgebench::explained_schema},
                           {"explained_table", ridgebench::explained_key_table}};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view asked = argc == 2 ? argv[1] : "";
  for (const Text& one : kTexts) {
    if (one.name != asked) continue;
    std::cout << one.text();
    return 0;
  }
  std::cerr << "usage: record_docs NAME; allowed:";
  for (const Text& one : kTexts) std::cerr << " " << one.name;
  std::cerr << "\n";
  return 2;
}
