#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"
#include "roofline/plan/collectives.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// Bandwidth of a link in one direction. Vendors state NVLink's sum of both directions, twice the
// value here.
struct PromisedLink {
  std::string_view name;
  double bytes_per_s;
  std::string_view source;
};

// A PCI Express lane sends 8, 16 or 32 Gbit/s, of which 128b/130b encoding leaves 128/130.
constexpr double pcie(double transfers_per_s, int lanes) {
  return transfers_per_s * lanes * 128 / 130 / 8;
}

constexpr double kOnlyWritten = 1;  // share of the traffic of a kernel that creates a tensor

constexpr std::string_view kPcie = "PCI Express Base Specification, 128b/130b encoding";
constexpr std::string_view kEthernet = "the name states Gbit/s";
constexpr std::array kLinks{
    PromisedLink{"pcie3x16", pcie(8e9, 16), kPcie},
    PromisedLink{"pcie4x16", pcie(16e9, 16), kPcie},
    PromisedLink{"pcie5x16", pcie(32e9, 16), kPcie},
    PromisedLink{"nvlink3", 300e9, "NVIDIA A100 data sheet: 600 GB/s, both directions"},
    PromisedLink{"nvlink4", 450e9, "NVIDIA H100 data sheet: 900 GB/s, both directions"},
    PromisedLink{"nvlink5", 900e9, "NVIDIA Blackwell data sheet: 1.8 TB/s, both directions"},
    PromisedLink{"nvlink-c2c", 450e9, "NVIDIA GH200 data sheet: 900 GB/s, both directions"},
    PromisedLink{"infiniband-hdr", 25e9, "InfiniBand HDR, 200 Gbit/s a port"},
    PromisedLink{"infiniband-ndr", 50e9, "InfiniBand NDR, 400 Gbit/s a port"},
    PromisedLink{"ethernet-100g", 12.5e9, kEthernet},
    PromisedLink{"ethernet-400g", 50e9, kEthernet}};

// "50G", "50 GB/s" and "50GB/s" are byte/s. "50B" may mean bytes or a billion of them.
std::optional<double> rate_of(std::string_view text) {
  if (text.ends_with('B') || text.ends_with('b')) return std::nullopt;
  if (text.ends_with("B/s")) text.remove_suffix(3);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return parse_number(text);
}

}  // namespace

Link link_of(const std::string& text) {
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = std::ranges::find(kLinks, lower, &PromisedLink::name);
  if (found != kLinks.end()) {
    return {std::string(found->name), found->bytes_per_s, std::string(found->source)};
  }
  const auto rate = rate_of(text);
  if (!rate) {
    throw UsageError(
        fmt::format("--link is '{}'; allowed: byte/s such as 50G or 50GB/s, a results "
                    "directory with copies, or {}",
                    text, link_names()));
  }
  return {text, positive("--link", *rate), "as given"};
}

std::string link_names() {
  std::string names;
  for (const PromisedLink& link : kLinks) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", link.name,
                         with_unit(link.bytes_per_s, "B/s"));
  }
  return names;
}

PlanAnswer plan_transfer(double bytes, const Link& link,
                         const std::optional<CollectiveQuestion>& collective, const Roofs* device) {
  positive("--bytes", bytes);
  PlanAnswer inputs{{"bytes", bytes}, {"link", link.name}, {"rate_from", link.source}};
  PlanAnswer answer{{"plan", "transfer"}};
  double sent = bytes;
  std::string note =
      link.measured ? fmt::format("the rate is that of {} copy: a smaller one takes longer",
                                  collective ? "a large" : "the fastest")
                    : "headers and the time to the first byte are not counted: a copy takes longer";
  if (collective) {
    inputs["collective"] = collective->name;
    inputs["ranks"] = whole("--ranks", collective->ranks);
    sent = sent_by_a_rank(collective->name, bytes, collective->ranks);
    answer["communication_bytes"] = sent;
    note =
        joined_notes({note, "each rank sends over a link of its own, and the network sums nothing",
                      link_note(link, collective->ranks)});
  }
  PlanAnswer terms = PlanAnswer::array();
  terms.push_back(term("rate of the link, one direction", link.bytes_per_s, "byte/s"));
  answer["time_s"] = finite("time", sent / link.bytes_per_s);
  const auto memory = device == nullptr ? std::nullopt : device->memory_roof(kOnlyWritten);
  if (memory) {
    inputs["device"] = device->name();
    inputs["memory_rate_from"] = memory->origin;
    terms.push_back(term("rate of the device's memory", memory->per_s, "byte/s"));
    answer["creation_time_s"] = finite("time", bytes / memory->per_s);
    note += "; a kernel that creates the bytes on the device only writes them";
  }
  answer["inputs"] = std::move(inputs);
  answer["terms"] = std::move(terms);
  answer["note"] = std::move(note);
  return answer;
}

}  // namespace ridgebench
