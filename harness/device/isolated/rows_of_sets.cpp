#include "harness/device/isolated/rows_of_sets.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace ridgebench {
namespace {

// Elements that all threads compute faster than one.
constexpr std::size_t kFewestForThreads = 16384;

// A reference may throw, and no parallel region lets an exception out.
class FirstFailure {
 public:
  template <class F>
  void guard(const F& f) {
    try {
      f();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void compute_rows(const Operation& operation, const Shape& shape, std::span<const RowsOfSet> sets,
                  int threads) {
  std::vector<std::pair<std::size_t, std::size_t>> rows;  // set, and row among its rows
  std::size_t elements = 0;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (std::size_t r = 0; r < sets[s].rows.size(); ++r) rows.emplace_back(s, r);
    elements += sets[s].out.size();
  }
  FirstFailure failure;
  const auto compute = [&](std::size_t i) {
    const RowsOfSet& set = sets[rows[i].first];
    const std::size_t r = rows[i].second;
    const std::span<Expected> rest = set.out.subspan(r * set.length);
    const auto row = rest.first(std::min(rest.size(), set.length));
    failure.guard([&] { operation.reference(shape, set.rows[r], set.in, row); });
  };
  if (rows.size() == 1 || elements < kFewestForThreads) {
    for (std::size_t i = 0; i < rows.size(); ++i) compute(i);  // a long row uses all threads itself
  } else {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (std::size_t i = 0; i < rows.size(); ++i) compute(i);
  }
  omp_pause_resource_all(omp_pause_soft);  // idle threads would disturb what is timed next
  failure.rethrow();
}

}  // namespace ridgebench
