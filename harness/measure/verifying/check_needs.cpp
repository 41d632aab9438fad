#include "harness/measure/verifying/check_needs.hpp"

#include <omp.h>

#include <algorithm>

#include "harness/device/cpu/free_memory.hpp"
#include "harness/measure/probing/probe_cost.hpp"
#include "harness/measure/verifying/output_check.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/reference/batched.hpp"

namespace ridgebench {
namespace {

// Seconds that a thread takes for a unit of cost (kSampleCost).
constexpr double kSecondsOfCost = 1e-9;

double bytes_of_values(double elements) { return elements * sizeof(Expected); }

// Bytes of the reference values that exist at once, if `rows` of all rows are compared.
double reference_bytes(const Problem& problem, std::int64_t rows) {
  const Operation& operation = *problem.operation;
  const auto row = static_cast<double>(problem.row_elements);
  const double elements = row * static_cast<double>(rows);
  const auto kept = static_cast<double>(most_kept_elements(operation));
  if (elements <= kept) return bytes_of_values(elements);
  const auto block = static_cast<double>(kMostKeptElements);
  if (rows_reference_of(operation) != nullptr) return bytes_of_values(block);
  const bool batched = operation.reference.target<BatchedReference>() != nullptr;
  return bytes_of_values(batched ? std::max(row, block) : row * omp_get_max_threads());
}

// Bytes of operands that lie on the host a second time.
double copied_bytes(const Case& c, const Problem& problem, bool sampled) {
  const bool in_place = c.device->backend() == Backend::cpu;
  double bytes = 0;
  for (const Operand& operand : problem.operands) {
    const bool input = operand.access == Access::updated || (operand.is_input() && !in_place);
    const bool copies = !in_place || operand.rows.stride > 0;  // rows are put side by side
    if (input || (operand.is_output() && copies && !sampled)) bytes += operand.bytes();
  }
  return bytes;
}

}  // namespace

CheckNeeds check_needs(const Case& c, const Problem& problem) {
  const CheckCost cost = default_cost(*c.device);
  const std::int64_t all = problem.rows;
  const std::int64_t rows = count_to_check(problem, cost.first);
  const bool sampled = rows < all;
  const auto group = group_to_check(problem, cost.first);
  const bool sums = sampled && group.has_value();
  CheckNeeds needs{};
  needs.bytes = copied_bytes(c, problem, sampled && !sums) + reference_bytes(problem, rows) +
                static_cast<double>(sizeof(std::int64_t)) * static_cast<double>(rows);
  needs.first_s = cost_of_rows(problem, rows);
  if (sums) {
    needs.bytes += sizeof(double) * static_cast<double>(all + problem.outputs.front().row_length);
    needs.bytes += bytes_of_values(static_cast<double>(kMostKeptElements));
    needs.first_s += cost_of_rows(problem, all, *group);
  }
  needs.further_s = cost_of_probes(c, problem);
  // A single row may keep one thread busy, as a product of long vectors does.
  const double threads = all > 1 ? omp_get_max_threads() : 1;
  needs.first_s *= kSecondsOfCost / threads;
  needs.further_s *= kSecondsOfCost / threads;
  return needs;
}

double workspace_bytes(const Case& c) {
  if (c.implementation == nullptr) return 0;
  return c.implementation->workspace_bytes(c.device->machine(), c.shape);
}

void require_room(const Buffers& buffers, const Case& c, const Problem& problem, double others) {
  buffers.require_room(problem.operands);
  const bool shared = c.device->backend() == Backend::cpu;
  const double workspaces = workspace_bytes(c) + others;
  const double on_host = shared ? Buffers::footprint(problem.operands, 1) + workspaces : 0;
  const double asked = check_needs(c, problem).bytes + on_host;
  const double free = shared ? buffers.available_bytes() : allocatable_bytes();
  if (asked <= free) return;
  throw OutOfMemory(asked, free, shared ? "memory with the check" : "host memory for the check");
}

std::optional<std::string> lacks_memory(const Case& c, const Problem& problem) {
  try {
    require_room(Buffers(*c.device, Fill::normal, 0), c, problem);
    return std::nullopt;
  } catch (const OutOfMemory& reason) {
    return reason.what();
  }
}

}  // namespace ridgebench
