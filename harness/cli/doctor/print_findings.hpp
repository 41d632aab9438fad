// The findings for people: one screen, by subject.
#pragma once

#include <optional>
#include <string>

#include "harness/cli/doctor/finding.hpp"

namespace ridgebench::doctor {

// "ready to measure 8 GPUs", "GPU cuda:3 cannot be used: ...", or "no NVIDIA GPU: ...".
std::string verdict_of(const Facts& facts, const Findings& findings);

struct Look {
  bool color = false;
  std::optional<std::size_t> columns;  // texts wrap there; commands, which people copy, do not
};

// A finding that several GPUs share is printed once, with all their names.
std::string text_of_findings(const Findings& findings, const std::string& verdict,
                             const Look& look);

// Prints them on stdout in the look of its terminal.
void print_findings(const Findings& findings, const std::string& verdict);

}  // namespace ridgebench::doctor
