#include "harness/results/junit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "harness/base/printable.hpp"

namespace ridgebench {
namespace {

// XML has no control characters, for which printable() puts a question mark.
std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

bool failed(const Record& r) { return went_wrong(r.status); }

// Why the share of its roof is not a finding of a row; empty if it is one.
std::string doubt_of(const Record& r, const Doubts& doubts) {
  const auto found = doubts.rows.find(r.id);
  if (found == doubts.rows.end()) return "";
  return fmt::format("<system-out>{}</system-out>",
                     xml_escaped(fmt::format("control moved: {}; the share of its roof is doubted",
                                             fmt::join(found->second, ", "))));
}

std::string test_case(const Record& r, const Doubts& doubts) {
  const std::string head = fmt::format(R"(  <testcase classname="{}" name="{}")",
                                       xml_escaped(r.op + "." + r.technique), xml_escaped(r.id));
  if (has_time(r.status)) {
    const std::string doubt = doubt_of(r, doubts);
    return head + (doubt.empty() ? "/>\n" : fmt::format(">{}</testcase>\n", doubt));
  }
  const std::string reason = xml_escaped(r.reason.value_or("no reason recorded"));
  const std::string outcome =
      failed(r) ? fmt::format(R"(<failure type="{}" message="{}"/>)", name(r.status), reason)
                : fmt::format("<skipped message=\"{}\"/>", reason);
  return fmt::format("{}>{}</testcase>\n", head, outcome);
}

}  // namespace

std::string junit_xml(std::span<const Record> records, const Doubts& doubts) {
  const auto skipped = std::ranges::count(records, Status::skipped, &Record::status);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"ridgebench\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n",
      records.size(), std::ranges::count_if(records, failed), skipped);
  for (const Record& r : records) xml += test_case(r, doubts);
  return xml + "</testsuite>\n";
}

}  // namespace ridgebench
