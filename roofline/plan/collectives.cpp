#include "roofline/plan/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// The share of the message that leaves a rank, with n ranks.
constexpr double all_but_its_own(double n) { return (n - 1) / n; }
constexpr double twice_all_but_its_own(double n) { return 2 * all_but_its_own(n); }
constexpr double all(double n) { return n > 1 ? 1 : 0; }

struct Collective {
  std::string_view name;
  double (*share)(double ranks);
};
constexpr std::array kCollectives{Collective{"all-reduce", twice_all_but_its_own},
                                  Collective{"all-gather", all_but_its_own},
                                  Collective{"reduce-scatter", all_but_its_own},
                                  Collective{"all-to-all", all_but_its_own},
                                  Collective{"gather", all_but_its_own},
                                  Collective{"scatter", all_but_its_own},
                                  Collective{"broadcast", all},
                                  Collective{"reduce", all},
                                  Collective{"send-receive", all}};

}  // namespace

double sent_by_a_rank(std::string_view collective, double bytes, double ranks) {
  const auto found = std::ranges::find(kCollectives, collective, &Collective::name);
  if (found == kCollectives.end()) {
    throw UsageError(
        fmt::format("--collective is '{}'; allowed: {}", collective, collective_names()));
  }
  return bytes * found->share(ranks);
}

std::string collective_names() {
  std::string names;
  for (const Collective& one : kCollectives) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
  }
  return names;
}

}  // namespace ridgebench
