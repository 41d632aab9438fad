#include "tests/kernels/matmul/hopper/kernel_model_tables.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "kernels/matmul/hopper/split_k.hpp"
#include "kernels/matmul/hopper/tile_scheduler.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

using cuda::ActiveClusters;
using cuda::ProductWork;
using cuda::TileShape;

constexpr int kSms = 132;
constexpr ActiveClusters kClustersOfH100{kSms, 66, 32};

// A kernel's clocks beside those of its products.
struct Lost {
  double epilogue, promotion;
};

// Share of the tensor cores' rate: a stage of m x n elements is m n / 32 clocks of an SM.
double share(TileShape tile, int cluster, const ProductWork& work) {
  const double ideal =
      static_cast<double>(work.m * work.n) / 32 * static_cast<double>(work.stages) / kSms;
  return ideal / cuda::product_clocks(tile, cluster, kSms / cluster, work);
}

struct Chosen {
  TileShape tile;
  int cluster;
  double share;
};

Chosen choose(std::span<const TileShape> tiles, const ProductWork& work) {
  const cuda::TileChoice choice = cuda::choose_tile(tiles, work, kClustersOfH100);
  const TileShape tile = tiles[choice.tile];
  return {tile, choice.cluster, share(tile, choice.cluster, work)};
}

// A persistent product: bytes of an element of A and of C, and its clocks in 2026-11-22's runs.
struct Persistent {
  const char* operation;
  const char* technique;
  const char* format;
  int bytes_a, bytes_c;
  bool gelu, promoted;
  Lost then;

  [[nodiscard]] ProductWork work(std::int64_t m, std::int64_t n, std::int64_t k) const {
    return {.m = m,
            .n = n,
            .stages = (k * bytes_a + cuda::kStageRowBytes - 1) / cuda::kStageRowBytes,
            .epilogue_clocks = cuda::epilogue_clocks(static_cast<std::size_t>(bytes_c), gelu),
            .promotion_clocks = promoted ? cuda::kPromotionClocks : 0};
  }
  [[nodiscard]] std::span<const TileShape> tiles() const {
    if (promoted) return cuda::kPromotedTiles;
    return cuda::kFastTiles;
  }
  // In the tile of those runs, the first of the list, and in clusters of two.
  [[nodiscard]] double predicted_then() const {
    ProductWork old = work(8192, 8192, 8192);
    old.epilogue_clocks = then.epilogue;
    old.promotion_clocks = then.promotion;
    return share(tiles()[0], 2, old);
  }
};

constexpr std::array<Persistent, 9> kPersistent{{
    {"matmul", "wgmma_persistent", "bf16", 2, 2, false, false, {3000, 0}},
    {"matmul", "wgmma_persistent", "fp16", 2, 2, false, false, {3000, 0}},
    {"matmul", "wgmma_persistent", "tf32", 4, 4, false, false, {5700, 0}},
    {"matmul", "wgmma_persistent_fast_accum", "fp8_e4m3", 1, 2, false, false, {3000, 0}},
    {"matmul", "wgmma_persistent_promoted", "fp8_e4m3", 1, 2, false, true, {3000, 148}},
    {"matmul_gelu", "wgmma_persistent", "bf16", 2, 2, true, false, {6600, 0}},
    {"matmul_gelu", "wgmma_persistent", "fp16", 2, 2, true, false, {6600, 0}},
    {"matmul_gelu", "wgmma_persistent", "tf32", 4, 4, true, false, {12700, 0}},
    {"matmul_gelu", "wgmma_persistent_promoted", "fp8_e4m3", 1, 2, true, true, {6600, 148}},
}};

// wgmma_pingpong stores a tile while it multiplies the next one, so that only the last store shows.
Chosen choose_pingpong(ProductWork work) {
  const double epilogue = std::exchange(work.epilogue_clocks, 0);
  Chosen chosen = choose(cuda::kPingpongTiles, work);
  const double clocks =
      cuda::product_clocks(chosen.tile, chosen.cluster, kSms / chosen.cluster, work);
  chosen.share *= clocks / (clocks + epilogue * chosen.tile.n / 256);
  return chosen;
}

// Counts of an inner loop's machine code.
struct Loop {
  double multiply_adds, instructions, conflicts;

  // Each instruction takes a slot, and each conflict of register banks another.
  [[nodiscard]] double share() const { return multiply_adds / (instructions + conflicts); }
};

// A product on the FMA units.
struct Fma {
  const char* operation;
  const char* technique;
  Loop then;
  std::optional<Loop> now;  // where it has changed
};

constexpr std::array<Fma, 2> kFma{{
    {"matmul", "register_tile", {1024, 1213, 320}, {}},
    // A stage; now of two warps that multiply and of one that transposes, which share a scheduler.
    {"matmul", "ffma_tma", {4096, 4397, 1352}, Loop{8192, 9116, 640}},
}};

// Rows of a published run.
class Run {
 public:
  explicit Run(const std::string& folder) : folder_("results/" + folder) {
    std::istringstream lines(read_file(RIDGEBENCH_SOURCE_DIR "/" + folder_ + "/records.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      rows_.push_back(nlohmann::json::parse(line));
    }
  }

  // Share of the peak at the clock, of 8192 cubed in steady state.
  [[nodiscard]] double share(const std::string& operation, const std::string& technique,
                             const std::string& format) const {
    return row(operation + "/" + technique + "/" + format + "/m:8192/n:8192/k:8192/layout:nt/")
        .at("fraction_of_roof_at_clock");
  }
  [[nodiscard]] double bytes_per_s(const std::string& id) const {
    return row(id).at("bytes_per_s");
  }

 private:
  // The steady row whose id begins so.
  [[nodiscard]] const nlohmann::json& row(const std::string& id) const {
    for (const nlohmann::json& row : rows_) {
      if (row.at("id").get<std::string>().starts_with(id) && row.at("regime") == "steady") {
        return row;
      }
    }
    throw std::runtime_error(folder_ + " has no row " + id);
  }

  std::string folder_;
  std::vector<nlohmann::json> rows_;
};

std::array<Run, 2> published_runs() {
  return {Run("nvidia-h100-80gb-hbm3/2026-11-22-7f6e7b5"), Run("nvidia-h200/2026-11-22-7f6e7b5")};
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string text(const Chosen& chosen) {
  return fmt::format("{} x {}, {}: {}", chosen.tile.m, chosen.tile.n, chosen.cluster,
                     percent(chosen.share));
}

}  // namespace

std::string kernel_models_at_8192() {
  const std::array<Run, 2> runs = published_runs();
  std::string table =
      "| operation | technique | format | model of that version | measured: H100 | H200 "
      "| today: predicted |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  const auto add = [&](const auto& kernel, const std::string& format, double then,
                       const std::string& now) {
    table += fmt::format("| {} | `{}` | {} | {} | {} | {} | {} |\n", kernel.operation,
                         kernel.technique, format, percent(then),
                         percent(runs[0].share(kernel.operation, kernel.technique, format)),
                         percent(runs[1].share(kernel.operation, kernel.technique, format)), now);
  };
  for (const Persistent& kernel : kPersistent) {
    const Chosen now = choose(kernel.tiles(), kernel.work(8192, 8192, 8192));
    add(kernel, kernel.format, kernel.predicted_then(), percent(now.share));
  }
  for (const Persistent& kernel : {kPersistent[0], kPersistent[5]}) {
    table +=
        fmt::format("| {} | `wgmma_pingpong` | {} | – | – | – | {} |\n", kernel.operation,
                    kernel.format, percent(choose_pingpong(kernel.work(8192, 8192, 8192)).share));
  }
  for (const Fma& kernel : kFma) {
    add(kernel, "fp32", kernel.then.share(), kernel.now ? percent(kernel.now->share()) : "same");
  }
  return table;
}

std::string kernel_models_of_shapes() {
  constexpr std::array<std::array<std::int64_t, 3>, 12> shapes{{{1024, 1024, 1024},
                                                                {2048, 2048, 2048},
                                                                {4096, 4096, 4096},
                                                                {8192, 8192, 8192},
                                                                {16384, 16384, 16384},
                                                                {4096, 7168, 16384},
                                                                {4096, 1536, 24576},
                                                                {2048, 2048, 13312},
                                                                {8192, 28672, 8192},
                                                                {5120, 5120, 5000},
                                                                {64, 8192, 8192},
                                                                {16, 8192, 8192}}};
  constexpr std::array<std::size_t, 4> columns{0, 3, 4, 5};  // of kPersistent
  std::string table = "| m x n x k |";
  std::string line = "\n| --- |";
  for (const std::size_t i : columns) {
    const Persistent& kernel = kPersistent[i];
    const char* const kind = kernel.gelu ? " with GeLU" : kernel.promoted ? " promoted" : "";
    table += fmt::format(" {}{} |", kernel.format, kind);
    line += " --- |";
  }
  table += " bf16, `wgmma_pingpong` |" + line + " --- |\n";
  for (const auto& [m, n, k] : shapes) {
    table += fmt::format("| {} x {} x {} |", m, n, k);
    for (const std::size_t i : columns) {
      const Persistent& kernel = kPersistent[i];
      table += fmt::format(" {} |", text(choose(kernel.tiles(), kernel.work(m, n, k))));
    }
    table += fmt::format(" {} |\n", text(choose_pingpong(kPersistent[0].work(m, n, k))));
  }
  return table;
}

std::string kernel_models_of_small_products() {
  constexpr std::array<std::array<std::int64_t, 3>, 7> shapes{{{128, 1024, 8192},
                                                               {256, 256, 8192},
                                                               {300, 1000, 8192},
                                                               {512, 512, 4096},
                                                               {512, 512, 16384},
                                                               {1024, 1024, 1024},
                                                               {2048, 2048, 2048}}};
  std::string table =
      "| m x n x k | `wgmma_persistent` | `wgmma_pingpong` | `wgmma_split_k` | split |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const auto& [m, n, k] : shapes) {
    const ProductWork work = kPersistent[0].work(m, n, k);
    const double ideal = static_cast<double>(m * n) / 32 * static_cast<double>(work.stages) / kSms;
    const double clocks = cuda::split_k_clocks(work, kSms);
    table += fmt::format("| {} x {} x {} | {} | {} | {} | {} |\n", m, n, k,
                         text(choose(cuda::kFastTiles, work)), text(choose_pingpong(work)),
                         clocks > 0 ? percent(ideal / clocks) : "–",
                         cuda::split_k_pays(work, kSms) ? "yes" : "no");
  }
  return table;
}

std::string kernel_models_of_traffic() {
  constexpr std::array<std::pair<const char*, TileShape>, 6> tiles{
      {{"wgmma_pingpong", {128, 128}},
       {"wgmma_pingpong", {128, 192}},
       {"wgmma_pingpong", {128, 200}},
       {"wgmma_persistent", {128, 224}},
       {"wgmma_persistent", {128, 256}},
       {"wgmma_persistent", {256, 192}}}};
  std::string table =
      "| technique | tile | one block | cluster of 2 | of 4 |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const auto& [technique, tile] : tiles) {
    table += fmt::format("| `{}` | {} x {} |", technique, tile.m, tile.n);
    for (const int cluster : cuda::kClusters) {
      const double flops = 2.0 * tile.m * tile.n * cuda::kStageRowBytes / 2;  // of a stage in bf16
      table += fmt::format(" {:.2f} |", 1000 * cuda::stage_bytes_from_l2(tile, cluster) / flops);
    }
    table += "\n";
  }
  return table;
}

std::string kernel_models_of_rasters() {
  constexpr std::int64_t side = 8192;
  constexpr double matrix = 2.0 * side * side;  // bytes in bf16
  constexpr double l2_bytes = 50 << 20;         // of an H100
  constexpr double flops = 2.0 * side * side * side;
  std::string table =
      "| raster | rows of A in a group | main memory at least | bytes for 1000 FLOP |\n"
      "| --- | --- | --- | --- |\n";
  for (const int rows : {1024, cuda::kGroupRows, 4096}) {
    const double moved = cuda::product_bytes_of_memory(
        cuda::schedule_tiles({128, 192}, 2, side, side, rows), {matrix, matrix, matrix}, l2_bytes);
    table += fmt::format("| {} rows | {:.0f} MB | {:.0f} MB | {:.2f} |\n", rows,
                         2.0 * rows * side / 1e6, moved / 1e6, 1000 * moved / flops);
  }
  return table;
}

std::string kernel_models_of_split_k() {
  constexpr std::int64_t side = 8192;     // n and k
  constexpr int stages = side * 2 / 128;  // in bf16
  constexpr int most_blocks_of_cluster = 8;
  const std::array<Run, 2> runs = published_runs();
  std::string table =
      "| m | columns of a block | bytes from L2 for a byte of B | H100 | H200 |\n"
      "| --- | --- | --- | --- | --- |\n";
  const auto add = [&](std::int64_t m, int columns, const char* note) {
    const double from_l2 = 1 + static_cast<double>(m) / columns;
    table += fmt::format("| {} | {}{} | {:.2f} |", m, columns, note, from_l2);
    for (const Run& run : runs) {
      const double memory = run.bytes_per_s("dram_read/vec16/fp32/");
      const double l2 = run.bytes_per_s("cache_l2_read/vec16/fp32/");
      table += fmt::format(" {} |", percent(std::min(1.0, l2 / from_l2 / memory)));
    }
    table += "\n";
  };
  for (const std::int64_t m : {16, 32, 64}) {
    const int now = cuda::split_k_columns(m, side, stages, kSms, most_blocks_of_cluster);
    if (now != 64) add(m, 64, ", before 0.2.0");
    add(m, now, "");
  }
  return table;
}

}  // namespace ridgebench
