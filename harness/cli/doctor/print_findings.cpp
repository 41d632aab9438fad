#include "harness/cli/doctor/print_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"

namespace ridgebench::doctor {
namespace {

// A finding with the labels of all GPUs that share it.
struct Line {
  Finding finding;
  std::vector<std::string> devices;
};

bool same_but_device(const Finding& a, const Finding& b) {
  return a.subject == b.subject && a.status == b.status && a.code == b.code && a.text == b.text;
}

// A line begins with the names of the GPUs and ends with the fault.
std::vector<Line> merged(const Findings& findings) {
  std::vector<Line> lines;
  for (const Finding& finding : findings) {
    const auto same = std::ranges::find_if(lines, [&](const Line& line) {
      return !finding.device.empty() && same_but_device(line.finding, finding);
    });
    if (same != lines.end()) {
      same->devices.push_back(finding.device);
    } else {
      lines.push_back({finding, {finding.device}});
    }
  }
  const auto is_gpu = [](const Line& line) { return line.finding.subject == "gpu"; };
  const auto first = std::ranges::find_if(lines, is_gpu);
  const auto last = std::find_if_not(first, lines.end(), is_gpu);
  std::stable_partition(first, last,
                        [](const Line& line) { return line.finding.status == Status::ok; });
  return lines;
}

// "cuda:0,1,3"
std::string label_of_line(const Line& line) {
  if (line.finding.device.empty() || line.finding.subject == "rows") return line.finding.subject;
  std::string label = line.devices.front();
  for (std::size_t i = 1; i < line.devices.size(); ++i) {
    const std::string& device = line.devices[i];
    label += ',' + (device.starts_with("cuda:") ? device.substr(5) : device);
  }
  return label;
}

std::string colored(Status status, const std::string& text, bool color) {
  constexpr std::array kColors{"\033[32m", "\033[36m", "\033[33m", "\033[1;31m"};  // of a Status
  if (!color) return text;
  return kColors[static_cast<std::size_t>(status)] + text + "\033[0m";
}

constexpr std::size_t kStatusWidth = 9;  // of "warning", and two blanks

std::string text_of_line(const Line& line, const std::string& label, std::size_t width,
                         const Look& look) {
  const Finding& finding = line.finding;
  const std::size_t margin = width + 2 + kStatusWidth;
  const std::string status(name(finding.status));
  std::string text =
      fmt::format("{:<{}}  {}{}{}\n", label, width, colored(finding.status, status, look.color),
                  std::string(kStatusWidth - status.size(), ' '),
                  wrapped(printable(finding.text), margin, look.columns));
  if (finding.help.empty()) return text;
  const char* const others = line.devices.size() > 1 ? "  # likewise for the others" : "";
  return text +
         fmt::format("{}> {}{}\n", std::string(margin, ' '), printable(finding.help), others);
}

}  // namespace

std::string verdict_of(const Facts& facts, const Findings& findings) {
  std::vector<std::string> broken;
  std::string reasons;
  for (const Finding& one : findings) {
    if (one.status != Status::error) continue;
    if (one.device.empty()) return "no GPU can be used: " + one.text;
    if (std::ranges::find(broken, one.device) != broken.end()) continue;
    broken.push_back(one.device);
    reasons += fmt::format("{}GPU {} cannot be used: {}", reasons.empty() ? "" : "; ", one.device,
                           one.text);
  }
  const auto warnings = std::ranges::count(findings, Status::warning, &Finding::status);
  const auto gpus = std::ranges::count_if(value_at(facts, "/gpus"), [&](const Facts& gpu) {
    const std::string device = text_at(gpu, "/device");
    return !device.empty() && std::ranges::find(broken, device) == broken.end();
  });
  std::string ready = "no NVIDIA GPU: the host will be measured";
  if (gpus > 0 || !broken.empty()) {
    ready = fmt::format("{}ready to measure {} GPU{}", broken.empty() ? "" : reasons + "; ", gpus,
                        gpus == 1 ? "" : "s");
  }
  if (warnings > 0) ready += fmt::format(", with {} warning{}", warnings, warnings == 1 ? "" : "s");
  return ready;
}

std::string text_of_findings(const Findings& findings, const std::string& verdict,
                             const Look& look) {
  const std::vector<Line> lines = merged(findings);
  std::size_t width = 0;
  for (const Line& line : lines) width = std::max(width, label_of_line(line).size());
  std::string text;
  std::string last;
  for (const Line& line : lines) {
    const std::string label = label_of_line(line);
    text += text_of_line(line, label == last ? "" : label, width, look);
    last = label;
  }
  const bool failed =
      std::ranges::any_of(findings, [](const Finding& one) { return one.status == Status::error; });
  return text + '\n' +
         colored(failed ? Status::error : Status::ok, printable(verdict), look.color) + '\n';
}

void print_findings(const Findings& findings, const std::string& verdict) {
  const std::optional<Terminal> terminal = terminal_of(STDOUT_FILENO);
  Look look{.color = wants_color(STDOUT_FILENO), .columns = {}};
  if (terminal) look.columns = static_cast<std::size_t>(terminal->columns);
  fmt::print("{}", text_of_findings(findings, verdict, look));
}

}  // namespace ridgebench::doctor
