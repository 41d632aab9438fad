// Writes the texts that follow from the list of a record's keys (harness/results/record.hpp):
//   record_docs schema > results/schema/record.schema.json
//   record_docs table      the table of docs/record.md
//   record_docs judged_schema and record_docs judged_table: the same of harness/results/judged
//   record_docs step_schema and record_docs step_table: the same of harness/step
#include "tests/support/record_docs.hpp"

#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "schema") {
    std::cout << ridgebench::record_schema();
  } else if (what == "table") {
    std::cout << ridgebench::record_key_table();
  } else if (what == "judged_schema") {
    std::cout << ridgebench::judged_schema();
  } else if (what == "judged_table") {
    std::cout << ridgebench::judged_key_table();
  } else if (what == "step_schema") {
    std::cout << ridgebench::step_schema();
  } else if (what == "step_table") {
    std::cout << ridgebench::step_key_table();
  } else {
    std::cerr
        << "usage: record_docs schema|table|judged_schema|judged_table|step_schema|step_table\n";
    return 2;
  }
  return 0;
}
