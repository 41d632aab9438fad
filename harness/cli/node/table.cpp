#include "harness/cli/node/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "harness/base/printable.hpp"
#include "harness/cli/machine_facts.hpp"
#include "harness/cli/text_table.hpp"
#include "roofline/units.hpp"

namespace ridgebench::node {
namespace {

constexpr std::size_t kMostColumns = 100;  // with eight GPUs
constexpr std::size_t kCell = 6;           // "100.4!"
constexpr std::size_t kPassWidth = 9;      // "isolated "
// Lines of one GPU in the list of odd rows, and rows in the last table.
constexpr std::size_t kMostOdd = 5;
constexpr std::size_t kMostRows = 40;

struct RowOfGpu {  // a row and pass of one GPU
  const RowOfNode* row = nullptr;
  Pass pass = Pass::isolated;
  PeerRatio ratio{};

  [[nodiscard]] double distance() const { return std::abs(ratio.of_median - 1); }
};

// Rows of one GPU, the slowest against the median first.
std::vector<RowOfGpu> rows_of_gpu(const RowsOfNode& all, std::size_t gpu) {
  std::vector<RowOfGpu> rows;
  for (const RowOfNode& row : all.rows) {
    for (const Pass pass : kPasses) {
      const auto& ratio = row.at(pass).peer_ratios[gpu];
      if (ratio) rows.push_back({&row, pass, *ratio});
    }
  }
  std::ranges::stable_sort(rows, {}, [](const RowOfGpu& row) { return row.ratio.of_median; });
  return rows;
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 1e2 * *share) : "";
}

// A text of at most `width` characters.
std::string shortened(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 2) + "..";
}

// Most rows are steady, and the regime of the others is named.
std::string label_of(const RowOfNode& row, std::size_t width) {
  constexpr std::string_view kUsual = "/steady";
  std::string label = printable(row.id);
  if (label.ends_with(kUsual)) label.resize(label.size() - kUsual.size());
  return shortened(label, width);
}

// The word for a GPU: what went wrong, else the worst verdict.
std::string state_of(const Gpu& gpu, const std::vector<RowOfGpu>& rows) {
  State worst = State::done;
  for (const GpuPass& pass : gpu.passes) worst = std::max(worst, pass.state);
  if (worst != State::done) return std::string(name(worst));
  Oddness odd = Oddness::none;
  bool far = false;
  for (const RowOfGpu& row : rows) {
    // A GPU with a slow row is slow, also if another row is fast.
    if (odd != Oddness::slow && row.ratio.odd != Oddness::none) odd = row.ratio.odd;
    far |= row.ratio.odd == Oddness::slow && row.ratio.far();
  }
  return far ? fmt::format("{} > 6 %", name(odd)) : std::string(name(odd));
}

std::optional<double> median_ratio(const RowsOfNode& all, std::size_t gpu) {
  std::vector<double> ratios;
  for (const RowOfNode& row : all.rows) {
    if (const auto ratio = row.loaded_over_isolated(gpu)) ratios.push_back(*ratio);
  }
  return ratios.empty() ? std::nullopt : std::optional(median(std::move(ratios)));
}

std::string trimmed(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

std::string with_unit(const std::optional<double>& value, double unit, const char* name) {
  return value ? fmt::format("{:.0f} {}", *value / unit, name) : "";
}

// Texts are aligned at the left of their columns, numbers at the right. A column without any value,
// such as the power of a device that reports none, is left out.
std::string columns_of(const std::vector<Texts>& table) {
  constexpr std::size_t kWords = 3;
  std::string text;
  for (const Texts& cells : table) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::size_t width = 0;
      for (const Texts& other : std::span(table).subspan(1))
        width = std::max(width, other[i].size());
      if (width == 0) continue;
      width = std::max(width, table.front()[i].size());
      line += i < kWords ? fmt::format("{:<{}}  ", cells[i], width)
                         : fmt::format("{:>{}}  ", cells[i], width);
    }
    text += trimmed(line) + "\n";
  }
  return text;
}

std::string table_of_gpus(const NodeRun& run, const RowsOfNode& all) {
  std::vector<Texts> table{
      {"GPU", "state", "worst row", "of median", "clock", "power", "temp", "ratio"}};
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    const std::vector<RowOfGpu> rows = rows_of_gpu(all, i);
    const Readings& read = all.readings[i];
    const bool none = rows.empty();
    table.push_back({run.gpus[i].device(), state_of(run.gpus[i], rows),
                     none ? "" : label_of(*rows.front().row, 34),
                     none ? "" : percent(rows.front().ratio.of_median),
                     with_unit(read.clock_hz, 1e6, "MHz"), with_unit(read.power_w, 1, "W"),
                     with_unit(read.temperature_c, 1, "C"), percent(median_ratio(all, i))});
  }
  return columns_of(table);
}

// Says what ended a GPU early, where controls moved, and in which rows a GPU is odd.
std::string odd_rows(const NodeRun& run, const RowsOfNode& all) {
  std::string text;
  for (const OddBits& odd : all.odd_bits) {
    text += shortened(fmt::format("{}{}: {}", odd.wrong ? "WRONG BITS " : "",
                                  run.gpus[odd.gpu].device(), printable(odd.text)),
                      kMostColumns) +
            "\n";
    if (odd.silent && run.gpus.size() > 1) {
      text += fmt::format("{} has no vote on other GPUs: its multiprocessors are outvoted\n",
                          run.gpus[odd.gpu].device());
    }
  }
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    const Gpu& gpu = run.gpus[i];
    for (const Pass pass : kPasses) {
      if (const auto moved = all.moved[static_cast<std::size_t>(pass)][i]; moved > 0)
        text += fmt::format("{} {}: CONTROL MOVED: {} ceilings; results of this pass drifted\n",
                            gpu.device(), name(pass), moved);
      for (const std::string& worn : gpu.at(pass).worn) {
        text += fmt::format("WORN {}: {}\n", name(pass), printable(worn));
      }
      if (gpu.at(pass).reason.empty()) continue;
      text += fmt::format("{} {}: {}\n", gpu.device(), name(pass), printable(gpu.at(pass).reason));
    }
    std::vector<RowOfGpu> odd = rows_of_gpu(all, i);
    std::erase_if(odd, [](const RowOfGpu& row) { return row.ratio.odd == Oddness::none; });
    std::ranges::stable_sort(odd, std::ranges::greater(), &RowOfGpu::distance);
    for (std::size_t k = 0; k < std::min(odd.size(), kMostOdd); ++k) {
      const PeerRatio& ratio = odd[k].ratio;
      const std::string z = ratio.z ? fmt::format(", z {:.1f}", *ratio.z) : "";
      text += shortened(fmt::format("{} {} {} at {}{}: {}", gpu.device(), name(odd[k].pass),
                                    name(ratio.odd), percent(ratio.of_median), z,
                                    label_of(*odd[k].row, kMostColumns)),
                        kMostColumns) +
              "\n";
    }
    if (odd.size() > kMostOdd) {
      text += fmt::format("{}: {} more such rows\n", gpu.device(), odd.size() - kMostOdd);
    }
  }
  return text;
}

double largest_distance(const RowOfNode& row) {
  double largest = 0;
  for (const Pass pass : kPasses) {
    for (const auto& ratio : row.at(pass).peer_ratios) {
      if (ratio) largest = std::max(largest, std::abs(ratio->of_median - 1));
    }
  }
  return largest;
}

std::string cell(const std::optional<double>& share, char mark) {
  return share ? fmt::format("{:>5.1f}{}", 1e2 * *share, mark) : fmt::format("{:>5} ", "-");
}

std::string line_of_pass(const PassOfRow& pass) {
  std::string line;
  for (const auto& ratio : pass.peer_ratios) {
    if (!ratio) {
      line += cell({}, ' ');
      continue;
    }
    line += cell(ratio->of_median, ratio->odd == Oddness::none ? ' ' : ratio->far() ? '!' : '*');
  }
  return line;
}

std::string lines_of_row(const RowOfNode& row, std::size_t gpus, std::size_t width) {
  std::string text;
  const auto add = [&](const std::string& label, std::string_view pass, const std::string& cells) {
    text += trimmed(fmt::format("{:<{}} {:<{}}{}", label, width, pass, kPassWidth, cells)) + "\n";
  };
  for (const Pass pass : kPasses) {
    add(pass == Pass::isolated ? label_of(row, width) : "", name(pass), line_of_pass(row.at(pass)));
  }
  const bool cycles = std::ranges::any_of(row.passes, &PassOfRow::in_cycles);
  std::string ratios;
  for (std::size_t i = 0; i < gpus; ++i) ratios += cell(row.loaded_over_isolated(i), ' ');
  add(cycles ? "  (in cycles: at the power limit)" : "", "ratio", ratios);
  return text;
}

std::string table_of_rows(const NodeRun& run, const RowsOfNode& all) {
  const std::size_t gpus = run.gpus.size();
  const std::size_t cells = kCell * std::max<std::size_t>(gpus, 8);
  const std::size_t width = kMostColumns - 1 - kPassWidth - std::min<std::size_t>(cells, 60);
  std::vector<const RowOfNode*> rows;
  for (const RowOfNode& row : all.rows) rows.push_back(&row);
  const auto distance = [](const RowOfNode* row) { return largest_distance(*row); };
  std::ranges::stable_sort(rows, std::ranges::greater(), distance);
  std::string text = fmt::format("{:<{}} {:<{}}", "% of the node's median", width, "", kPassWidth);
  for (const Gpu& gpu : run.gpus) text += fmt::format("{:>5} ", gpu.facts.at("index").get<int>());
  text = trimmed(text) + "\n";
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    text += lines_of_row(*rows[i], gpus, width);
  }
  if (rows.size() > kMostRows) {
    text += fmt::format("{} more rows, in which no GPU is further than {:.1f} % from the median\n",
                        rows.size() - kMostRows, 1e2 * distance(rows[kMostRows]));
  }
  return text;
}

std::string rule_of(const RowsOfNode& all) {
  const bool judged = std::ranges::any_of(all.rows, [](const RowOfNode& row) {
    return std::ranges::any_of(row.passes, [](const PassOfRow& pass) {
      return std::ranges::any_of(pass.peer_ratios, [](const auto& p) { return p && p->z; });
    });
  });
  const std::string limits = fmt::format("* more than {:g} %, ! more than {:g} % from the median",
                                         1e2 * kOddDistance, 1e2 * kFarDistance);
  if (judged) return fmt::format("{}, and |z| above {:g}\n", limits, kOddZ);
  return fmt::format("{}; no verdict: z needs {} comparable GPUs\n", limits, kFewestForZ);
}

}  // namespace

std::string table_of(const NodeRun& run, const RowsOfNode& all) {
  const std::string size = counted(run.gpus.size(), "GPU") + ", " + counted(all.rows.size(), "row");
  std::string text = fmt::format("node {}: {}; ratio: the rate under load over the rate alone\n",
                                 printable(node_name()), size) +
                     table_of_gpus(run, all);
  if (const std::string odd = odd_rows(run, all); !odd.empty()) text += "\n" + odd;
  if (!all.rows.empty()) text += "\n" + table_of_rows(run, all) + rule_of(all);
  return text;
}

}  // namespace ridgebench::node
