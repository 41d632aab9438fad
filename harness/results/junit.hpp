// The rows of a run as test cases, for CI systems that show JUnit's XML.
#pragma once

#include <span>
#include <string>

#include "harness/results/doubts.hpp"
#include "harness/results/record.hpp"

namespace ridgebench {

// One test case per row: a failure for wrong, suspect, invalid and failed, skipped with its reason.
// The output of a case names the ceilings whose controls moved.
std::string junit_xml(std::span<const Record> records, const Doubts& doubts = {});

}  // namespace ridgebench
