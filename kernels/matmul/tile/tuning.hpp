// The choice among launches of one product by measurement. Single launches on an idle board say
// little of a product under load: the clock is another one, and wanders by several percent. So
// candidates take turns under load: a short pass leaves three of them, a longer one finds the
// fewest cycles. At a board's power limit the clock follows from the joules of a launch, so there
// those that are close in cycles run alone for longer, and the least time decides.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/common/error.hpp"
#include "kernels/common/product_strides.hpp"
#include "kernels/common/queue.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {

// A pass of rounds A B C C B A. The rounds of its first seconds do not count, because power settles
// meanwhile.
struct TuningPass {
  double settling_s;
  double turn_s;        // a turn is one launch where that takes longer
  double fewest, most;  // rounds that count
  double longest_s;     // of those rounds together, where the fewest do not take longer
};

// Rules of docs/method.md, section 3. A turn is short beside the tens of milliseconds in which a
// power limit moves the clock, so that neighbouring turns see about the same clock.
inline constexpr TuningPass kShortPass{
    .settling_s = 0.02, .turn_s = 1e-3, .fewest = 1, .most = 3, .longest_s = 1};
inline constexpr TuningPass kLastPass{
    .settling_s = 0.3, .turn_s = 2e-3, .fewest = 3, .most = 12, .longest_s = 1};
inline constexpr std::size_t kFinalists = 3;
// Blocks at the power limit, two for each candidate in the order A B C C B A. The clock settles
// within tens of milliseconds; the first part of a block is not counted.
inline constexpr double kSustainedBlock_s = 0.3;
inline constexpr double kSustainedDropped_s = 0.1;
// A candidate takes part if it needs at most this times the cycles of the best.
inline constexpr double kCloseInCycles = 1.03;
// The board is at its limit if the limit lowered the clock for this share of the last pass.
inline constexpr double kShareAtTheLimit = 0.5;
// A candidate is out before the short pass if a single launch takes this times the fastest one.
inline constexpr double kHopeless = 1.4;
// A candidate is launched twice alone, or once if that takes longer.
inline constexpr double kLongLaunch_s = 0.01;
inline constexpr double kShortestLaunch_s = 1e-6;  // a timer may show none at all

namespace select_detail {

struct Candidate {
  int index;
  Launch launch;
  double launch_s = 0;           // of a single launch, about
  std::vector<double> shares{};  // of a pass, for each round: its turns over those of all
  bool failed = false;

  [[nodiscard]] double median_share() const {
    std::vector<double> sorted = shares;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

// The turns of a pass. Each round starts with another candidate, so that each has each place.
struct Schedule {
  std::vector<Turn> turns;
  std::vector<std::size_t> whose;
  std::size_t settling = 0;  // turns that do not count

  Schedule(const TuningPass& pass, const std::vector<double>& launch_s,
           const std::vector<Launch>& launches) {
    const std::size_t size = launches.size();
    std::vector<Turn> turn_of;
    double round_s = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double count = std::max(std::ceil(pass.turn_s / launch_s[i]), 1.0);
      turn_of.push_back({&launches[i], static_cast<std::int64_t>(count)});
      round_s += 2 * count * launch_s[i];
    }
    const auto unused = static_cast<std::size_t>(std::ceil(pass.settling_s / round_s));
    const auto used =
        static_cast<std::size_t>(std::clamp(pass.longest_s / round_s, pass.fewest, pass.most));
    settling = unused * 2 * size;
    for (std::size_t round = 0; round < unused + used; ++round) {
      for (std::size_t place = 0; place < 2 * size; ++place) {
        whose.push_back((std::min(place, 2 * size - 1 - place) + round) % size);
        turns.push_back(turn_of[whose.back()]);
      }
    }
  }
};

// The candidates still in the search. One that throws is out; a lost device ends the search.
class CandidateSearch {
 public:
  explicit CandidateSearch(Queue& queue) : queue_(&queue) {}

  void enter(int index, const std::function<Launch(int)>& make) {
    attempt([&] {
      Candidate c{.index = index, .launch = make(index)};
      c.launch_s = std::max(queue_->time(c.launch), kShortestLaunch_s);
      if (c.launch_s < kLongLaunch_s) {
        c.launch_s = std::clamp(queue_->time(c.launch), kShortestLaunch_s, c.launch_s);
      }
      candidates_.push_back(std::move(c));
    });
  }

  // Sorts the candidates by their share of the pass and leaves the `most` first. Throws what the
  // last candidate to fail threw where none is left.
  void run(const TuningPass& pass, std::size_t most) {
    drop_hopeless();
    if (candidates_.size() > 1) take_turns(pass);
    drop_failed();
    if (candidates_.size() > 1) {
      std::ranges::sort(candidates_, {},
                        [](const Candidate& c) { return std::pair(c.median_share(), c.index); });
    }
    leave(most);
  }

  // True if the power limit lowered the clock during most of the last pass.
  [[nodiscard]] bool at_the_limit() const { return capped_share_ >= kShareAtTheLimit; }

  // Leaves the candidate of the least time, each alone under load, of those that the last pass
  // found to be close.
  void run_alone() {
    const double best = candidates_.front().median_share();
    std::erase_if(candidates_,
                  [&](const Candidate& c) { return c.median_share() > kCloseInCycles * best; });
    if (candidates_.size() < 2) return;
    const std::vector<Launch> launches = guarded_launches();
    const std::size_t size = candidates_.size();
    const auto whose = [size](std::size_t place) { return std::min(place, 2 * size - 1 - place); };
    std::vector<Turn> turns;
    for (std::size_t place = 0; place < 2 * size; ++place) {
      const std::size_t i = whose(place);
      for (const double seconds : {kSustainedDropped_s, kSustainedBlock_s - kSustainedDropped_s}) {
        const double count = std::max(std::ceil(seconds / candidates_[i].launch_s), 1.0);
        turns.push_back({&launches[i], static_cast<std::int64_t>(count)});
      }
    }
    const std::vector<double> seconds = queue_->time_turns(turns);
    std::vector<double> own(size);  // seconds of a launch, in two blocks
    for (std::size_t place = 0; place < 2 * size; ++place) {
      const std::size_t counted = 2 * place + 1;
      own[whose(place)] += seconds[counted] / static_cast<double>(turns[counted].launches);
    }
    for (std::size_t i = 0; i < size; ++i) candidates_[i].shares = {own[i]};
    drop_failed();
    std::ranges::stable_sort(candidates_, {}, &Candidate::median_share);
    leave(1);
  }

  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }

 private:
  template <class Action>
  bool attempt(const Action& action) {
    try {
      action();
      return true;
    } catch (const DeviceError&) {
      throw;
    } catch (const std::exception&) {
      failure_ = std::current_exception();
      return false;
    }
  }

  void drop_failed() {
    std::erase_if(candidates_, [](const Candidate& c) { return c.failed; });
    if (candidates_.empty() && failure_) std::rethrow_exception(failure_);
  }

  void leave(std::size_t most) {
    if (candidates_.size() > most) {
      candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(most), candidates_.end());
    }
  }

  // A launch that throws marks its candidate. The candidates must stay where they are.
  std::vector<Launch> guarded_launches() {
    std::vector<Launch> launches;
    for (Candidate& c : candidates_) {
      launches.emplace_back([this, &c] { c.failed = c.failed || !attempt(c.launch); });
    }
    return launches;
  }

  void drop_hopeless() {
    if (candidates_.empty()) return;
    const double best = std::ranges::min_element(candidates_, {}, &Candidate::launch_s)->launch_s;
    std::erase_if(candidates_, [&](const auto& c) { return c.launch_s > kHopeless * best; });
  }

  void take_turns(const TuningPass& pass) {
    const std::vector<Launch> launches = guarded_launches();
    std::vector<double> launch_s;
    for (Candidate& c : candidates_) {
      c.shares.clear();
      launch_s.push_back(c.launch_s);
    }
    const Schedule schedule(pass, launch_s, launches);
    const double capped_before_s = queue_->power_capped_s().value_or(0);
    const std::vector<double> seconds = queue_->time_turns(schedule.turns);
    capped_share_ = (queue_->power_capped_s().value_or(0) - capped_before_s) /
                    std::accumulate(seconds.begin(), seconds.end(), 0.0);
    const std::size_t round = 2 * candidates_.size();
    for (std::size_t t = schedule.settling; t < seconds.size(); t += round) {
      std::vector<double> own(candidates_.size());  // seconds of a launch, in two turns
      for (std::size_t i = t; i < t + round; ++i) {
        own[schedule.whose[i]] += seconds[i] / static_cast<double>(schedule.turns[i].launches);
      }
      double all = 0;
      for (std::size_t i = 0; i < own.size(); ++i) all += candidates_[i].failed ? 0 : own[i];
      for (std::size_t i = 0; i < own.size(); ++i) candidates_[i].shares.push_back(own[i] / all);
    }
  }

  Queue* queue_;
  std::vector<Candidate> candidates_;
  std::exception_ptr failure_;
  double capped_share_ = 0;  // of the last pass
};

}  // namespace select_detail

// Numbers of further launches that are like one of the candidates, and are tried if it is the
// fastest.
using Variants = std::function<std::vector<int>(int)>;

// The index of the fastest of the launches make(i), i < count, and of the variants of the fastest,
// each of which has run before: of the fewest cycles, or at the board's power limit of the least
// time among those close to them. A candidate that throws is left out, unless the device is lost or
// all of them throw.
inline int select_fastest(Queue& queue, int count, const std::function<Launch(int)>& make,
                          const Variants& variants = {}) {
  select_detail::CandidateSearch search(queue);
  for (int i = 0; i < count; ++i) search.enter(i, make);
  search.run(kShortPass, kFinalists);
  if (search.candidates().size() > 1) search.run(kLastPass, kFinalists);
  if (variants && !search.candidates().empty()) {
    const std::vector<int> like_it = variants(search.candidates().front().index);
    for (const int i : like_it) search.enter(i, make);
    if (!like_it.empty()) search.run(kLastPass, kFinalists + like_it.size());
  }
  if (search.candidates().size() > 1 && search.at_the_limit()) search.run_alone();
  return search.candidates().empty() ? 0 : search.candidates().front().index;
}

}  // namespace ridgebench

namespace ridgebench::cuda {

// n elements of device memory, normal. Zeros would not do: the device multiplies them
// at a higher clock. Instantiated for the storage types of products in tuning.cu.
template <class T>
std::shared_ptr<T> random_elements(Queue& queue, std::int64_t n);

// Launches once and waits: the driver loads a kernel at its first launch, which must not be timed.
void warm_up(Queue& queue, const Launch& launch);

// Returns the number of the fastest of the launches make(i, a, b, bias, c), i < count, or of a
// variant of the fastest.
template <class A, class B, class Out, class Make>
int fastest(Queue& queue, const Shape& shape, int count, const Make& make,
            const Variants& variants = {}) {
  const std::int64_t batch = batch_of(shape);
  const auto a = random_elements<A>(queue, batch * lines_of_a(shape).elements());
  const auto b = random_elements<B>(queue, batch * lines_of_b(shape).elements());
  const auto bias = random_elements<Out>(queue, shape["n"]);
  const auto c = random_elements<Out>(queue, batch * lines_of_c(shape).elements());
  const auto warm = [&](int i) {
    Launch launch = make(i, a.get(), b.get(), bias.get(), c.get());
    warm_up(queue, launch);
    return launch;
  };
  return select_fastest(queue, count, warm, variants);
}

}  // namespace ridgebench::cuda
