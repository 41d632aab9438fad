// The rows of a run as test cases, for CI systems that show JUnit's XML.
#pragma once

#include <span>
#include <string>

#include "harness/results/record.hpp"

namespace ridgebench {

// One test case per row: a failure for wrong, invalid and failed, skipped with its reason. The text
// follows the schema of JUnit's Ant task (https://github.com/windyroad/JUnit-Schema).
std::string junit_xml(std::span<const Record> records);

}  // namespace ridgebench
