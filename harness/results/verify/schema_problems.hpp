// Holds environment.json to its schema, as the commands in Python do that read it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ridgebench {

// One line for each place of the value that breaks the schema: a key that is missing, and a value
// with what is allowed for it. The keywords are those of JSON Schema 2020-12
// (https://json-schema.org/draft/2020-12/json-schema-validation) that results/schema uses for
// environment.json. `name` opens each line. Throws std::logic_error for a schema with another
// keyword.
std::vector<std::string> schema_problems(const nlohmann::json& value, const nlohmann::json& schema,
                                         const std::string& name);

// schema_problems() of an environment.json by results/schema/environment.schema.json.
std::vector<std::string> environment_problems(const nlohmann::json& environment);

}  // namespace ridgebench
