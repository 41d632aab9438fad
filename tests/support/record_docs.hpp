// What the list of a record's keys (record.hpp) says to other programs and to readers.
#pragma once

#include <string>

namespace ridgebench {

// results/schema/record.schema.json: JSON Schema, draft 2020-12, with the rules between keys.
std::string record_schema();

// The table of docs/record.md, in Markdown. Keys of nested objects follow theirs: `verify.error`.
std::string record_key_table();

// The same of the judgement: results/schema/judged.schema.json and the table of
// docs/method/judged.md.
std::string judged_schema();
std::string judged_key_table();

// The same of a step: results/schema/step.schema.json and the table of docs/step.md.
std::string step_schema();
std::string step_key_table();

// The same of an explanation: results/schema/explained.schema.json and the table of
// docs/explain.md.
std::string explained_schema();
std::string explained_key_table();

}  // namespace ridgebench
