#include "harness/measure/duel/plan.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>

#include "harness/measure/duel/forced_choice.hpp"
#include "harness/measure/selection/selection.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

// Seconds of the profile's duels. The long scale is for those that a power cap limits.
constexpr double kQuickSeconds = 3.5;
constexpr double kHostSeconds = 6;
// Seconds of a cold duel of two named techniques.
constexpr double kColdSeconds = 6;
// Seconds of a process beside the timing: inputs, tuning and both comparisons.
constexpr double kChecks_s = 1;

// The best technique of an operation next to a library that computes as precisely. A test compares
// the names with the sources of the kernels.
struct Rivals {
  Backend backend;
  std::string_view operation;
  std::string_view first;
  std::string_view second;
  std::string_view shapes = {};                 // separated by spaces; empty: those of shapes_of()
  std::optional<Format> format = std::nullopt;  // empty: those of in_profile()
};
constexpr std::array kRivals{
    Rivals{Backend::cuda, "matmul", "ffma_tma", "cublas_tuned"},
    Rivals{Backend::cuda, "matmul", "wgmma_pingpong", "cublas_tuned"},
    Rivals{Backend::cuda, "matmul", "wgmma_tuned_promoted", "cublas_tuned"},
    Rivals{Backend::cuda, "matmul", "wgmma_pingpong_fast_accum", "cublas_tuned_fast_accum"},
    Rivals{Backend::cuda, "matmul", "wgmma_split_k", "cublas_tuned",
           "m:16/n:8192/k:8192 m:64/n:8192/k:8192", Format::bf16},
    Rivals{Backend::cuda, "matmul_gelu", "ffma_tma", "cublas_tuned", "8192"},
    Rivals{Backend::cuda, "matmul_gelu", "wgmma_pingpong", "cublas_tuned", "8192", Format::bf16},
    Rivals{Backend::cuda, "matmul_gelu", "wgmma_tuned_promoted", "cublas_tuned", "8192",
           Format::fp8_e4m3},
    Rivals{Backend::cuda, "matmul_block_scaled", "wgmma_block_scaled", "cublas", "8192",
           Format::fp8_e4m3},
    Rivals{Backend::cuda, "relu", "vec16", "cub"},
    Rivals{Backend::cuda, "gelu", "vec16", "cub"},
    Rivals{Backend::cuda, "dot", "one_pass", "cub"},
    Rivals{Backend::cuda, "matvec", "row_per_block", "cublas"},
    Rivals{Backend::cpu, "matmul", "packed", "openblas"},
    Rivals{Backend::cpu, "matmul", "packed", "onednn"},
    Rivals{Backend::cpu, "matmul", "amx", "onednn"},
    Rivals{Backend::cpu, "relu", "streaming", "onednn"},
    Rivals{Backend::cpu, "gelu", "exp2_polynomial", "onednn"},
    Rivals{Backend::cpu, "dot", "accumulators", "openblas"},
    Rivals{Backend::cpu, "matvec", "row_by_row", "openblas"},
    Rivals{Backend::cpu, "matvec", "row_by_row", "onednn"},
};
// The formats of operations that memory limits: a wide one and a narrow one.
constexpr std::array kMemoryFormats{Format::fp32, Format::bf16};

const Implementation* find(const Operation& operation, Backend backend, std::string_view technique,
                           FormatPair format) {
  for (const auto& i : Registry::instance().implementations()) {
    if (i->operation == &operation && i->backend == backend && i->technique.name == technique &&
        i->format == format) {
      return i.get();
    }
  }
  return nullptr;
}

// Throws UsageError that names the techniques or the formats which are there.
const Implementation& implementation_of(const Operation& operation, Backend backend,
                                        std::string_view technique, FormatPair format) {
  if (const auto* found = find(operation, backend, technique, format)) return *found;
  std::vector<std::string_view> techniques;
  for (const auto& i : Registry::instance().implementations()) {
    const bool here = i->operation == &operation && i->backend == backend && i->format == format;
    if (here) techniques.push_back(i->technique.name);
  }
  reject_name(std::string(operation.name) + " technique in " + format.name(), technique,
              techniques);
}

Case case_of(const Implementation& implementation, Device& device, const Shape& shape,
             Regime regime) {
  return {.operation = implementation.operation,
          .technique = implementation.technique,
          .implementation = &implementation,
          .device = &device,
          .format = implementation.format,
          .shape = shape,
          .regime = regime};
}

// The sizes of a profile's duel: the largest of the sweep, for products up to 8192 cubed.
std::vector<Shape> shapes_of(const Rivals& rivals, const Operation& operation,
                             const Device& device) {
  if (!rivals.shapes.empty()) {
    std::vector<Shape> shapes;
    for (const auto& text : std::views::split(rivals.shapes, ' ')) {
      shapes.push_back(parse_shape(std::string(text.begin(), text.end()), operation));
    }
    return shapes;
  }
  if (operation.engine != Engine::tensor) {
    return {operation.shapes(Profile::quick, Pace::fast, device.machine()).front()};
  }
  const auto cube = [&](const char* n) { return parse_shape(n, operation); };
  if (device.backend() == Backend::cpu) return {cube("1024")};
  return {cube("1024"), cube("4096"), cube("8192")};
}

// A steady launch of a small product overlaps its neighbours, which few users' launches do.
// Therefore the cold ratio of a GPU comes first.
std::vector<Regime> regimes_of_profile(const Operation& operation, const Shape& shape,
                                       const Device& device) {
  constexpr std::int64_t kSmall = 1024;
  const bool small = operation.engine == Engine::tensor && device.backend() == Backend::cuda &&
                     shape.dimensions().front().second == kSmall;
  if (small) return {Regime::cold, Regime::steady};
  return {Regime::steady};
}

bool in_profile(const Rivals& rivals, const Operation& operation, FormatPair format) {
  if (rivals.format) return format == FormatPair(*rivals.format);
  if (operation.engine == Engine::tensor) return format.a == format.b;
  return std::ranges::find(kMemoryFormats, format.a) != kMemoryFormats.end();
}

double profile_seconds(const Shape& shape, const Operation& operation, const Device& device) {
  constexpr std::int64_t kCapped = 8192;
  if (device.backend() == Backend::cpu) return kHostSeconds;
  const bool capped =
      operation.engine == Engine::tensor && shape.dimensions().front().second >= kCapped;
  return capped ? kDuelSeconds : kQuickSeconds;
}

void add_profile(std::vector<DuelCase>& duels, const DuelRequest& request, Device& device) {
  const Selection selection(request.names, Registry::instance());
  for (const Rivals& rivals : kRivals) {
    const Operation& operation = Registry::instance().operation(rivals.operation);
    if (rivals.backend != device.backend() || !selection.has(operation)) continue;
    for (const FormatPair format : operation.formats) {
      const auto* first = find(operation, rivals.backend, rivals.first, format);
      const auto* second = find(operation, rivals.backend, rivals.second, format);
      if (first == nullptr || second == nullptr || !in_profile(rivals, operation, format)) continue;
      if (!selection.has_format(format)) continue;
      if (request.against_itself) {
        const bool there = std::ranges::any_of(duels, [&](const DuelCase& duel) {
          return duel.first.implementation == first && duel.first.device == &device;
        });
        if (there) continue;  // the technique has two rivals
        second = first;
      }
      for (const Shape& shape : shapes_of(rivals, operation, device)) {
        for (const Regime regime : regimes_of_profile(operation, shape, device)) {
          if (request.regime.value_or(regime) != regime) continue;
          duels.push_back({case_of(*first, device, shape, regime),
                           case_of(*second, device, shape, regime),
                           request.seconds.value_or(profile_seconds(shape, operation, device))});
        }
      }
    }
  }
}

bool settles(const Device& device) { return device.tensor_warm_up_s() > 0; }

// Each of the processes that a duel has by default, or that the user requests, gets kDuelSeconds. A
// cold duel has no long scale.
double named_seconds(const DuelRequest& request, const Device& device) {
  if (request.regime == Regime::cold) return kColdSeconds;
  if (!settles(device)) return kDuelSeconds;
  return kDuelSeconds * request.processes.value_or(kGpuProcesses);
}

void add_named(std::vector<DuelCase>& duels, const DuelRequest& request, Device& device) {
  const Selection selection(request.names, Registry::instance());
  for (const auto& operation : Registry::instance().operations()) {
    if (operation->ceiling || !selection.has(*operation)) continue;
    for (const FormatPair format : operation->formats) {
      if (!selection.has_format(format)) continue;
      const std::vector<Shape> shapes =
          selection.shapes(*operation, format).value_or(std::vector<Shape>());
      for (const Shape& shape : shapes) {
        // Copies a technique only if the request names its choice.
        const auto side = [&](std::string_view name,
                              std::shared_ptr<const Implementation>& forced) {
          const std::size_t end = name.find(kForces);
          const Implementation& chooses =
              implementation_of(*operation, device.backend(), name.substr(0, end), format);
          const Regime regime = request.regime.value_or(Regime::steady);
          if (end == name.npos) return case_of(chooses, device, shape, regime);
          forced = with_plan(chooses, name.substr(end + 1));
          return case_of(*forced, device, shape, regime);
        };
        decltype(DuelCase::forced) forced;
        const Case first = side(request.techniques.front(), forced[0]);
        const Case second = side(request.techniques.back(), forced[1]);
        const double seconds = request.seconds.value_or(named_seconds(request, device));
        duels.push_back({first, second, seconds, 1, std::move(forced)});
      }
    }
  }
}

int processes_of(const DuelRequest& request, const DuelCase& duel) {
  if (request.processes) return *request.processes;
  if (!duel.first.device->processes_differ()) {
    const bool whole = duel.seconds >= kGpuProcesses * (duel.cold() ? 1 : kWholeProcess_s);
    return !request.techniques.empty() && settles(*duel.first.device) && whole ? kGpuProcesses : 1;
  }
  const int most = request.techniques.empty() ? kProfileProcesses : kDuelProcesses;
  const auto affordable =
      static_cast<int>(std::min<double>(most, duel.seconds / kShortestProcess_s));
  return std::max(affordable, static_cast<int>(kFewestRatios));
}

}  // namespace

std::vector<DuelCase> choose_duels(const DuelRequest& request,
                                   const std::vector<std::unique_ptr<Device>>& devices) {
  std::vector<DuelCase> duels;
  for (const auto& device : devices) {
    if (request.techniques.empty()) {
      add_profile(duels, request, *device);
    } else {
      add_named(duels, request, *device);
    }
  }
  for (DuelCase& duel : duels) duel.processes = processes_of(request, duel);
  return duels;
}

double planned_s(const DuelCase& duel) {
  return duel.unsupported() ? 0 : duel.seconds + duel.processes * kChecks_s;
}

}  // namespace ridgebench
