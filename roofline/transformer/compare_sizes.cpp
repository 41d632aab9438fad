// Two checks of the counts of a config.json: the bytes of the weights, by the index beside it, and
// the size in its path.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/transformer/read_parts.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr std::uintmax_t kLargestIndex = std::uintmax_t{256} << 20U;

// How much a count may differ: the index of one in 16 bits, that of a quantised one, of which some
// parts are not, and a rounded name.
constexpr double kExactTolerance = 0.02;
constexpr double kQuantisedTolerance = 0.1;
constexpr double kNameTolerance = 0.3;

bool near(double a, double b, double tolerance) { return std::abs(a / b - 1) <= tolerance; }

void compare_index(const std::filesystem::path& index, Transformer& model) {
  const nlohmann::json root = parse_json(read_file(index.string(), kLargestIndex), kIndex);
  const JsonObject whole(root, kIndex);
  if (!whole.holds("metadata")) return;
  const JsonObject metadata = whole.object("metadata");
  if (!metadata.holds("total_size")) return;
  constexpr Range kAnySize{0, 1e18};
  const double stored = metadata.number("total_size", kAnySize);
  const double counted = weights_bytes(model, model.weights, Format::bf16);
  const bool quantised = model.weights.any();
  const double tolerance = quantised ? kQuantisedTolerance : kExactTolerance;
  const bool single = !quantised && near(weights_bytes(model, {}, Format::fp32), stored, tolerance);
  if (single || near(counted, stored, tolerance)) return;
  model.warnings.push_back(
      fmt::format("{} beside the config has {}, and the counts give {}: the file holds more than "
                  "this model, or the counts are wrong",
                  kIndex, with_unit(stored, "B"), with_unit(counted, "B")));
}

// The sizes in a name: "Qwen3-30B-A3B", "Mixtral-8x7B-v0.1".
struct NamedSizes {
  std::vector<double> all;
  std::vector<double> active;
  std::vector<double> products;  // 8 x 7B: experts share attention, so that the model is smaller
};

NamedSizes named_sizes(const std::string& name) {
  static const std::regex size("(?:^|[-_. ])(A|E|[0-9]+x)?([0-9]+(?:\\.[0-9]+)?)[bB](?=$|[-_. ])");
  constexpr double kBillion = 1e9;
  NamedSizes sizes;
  for (std::sregex_iterator at(name.begin(), name.end(), size), end; at != end; ++at) {
    const std::string prefix = (*at)[1];
    const double value = std::stod((*at)[2]) * kBillion;
    if (prefix == "E") continue;  // "effective"
    if (prefix.empty()) {
      sizes.all.push_back(value);
    } else if (prefix == "A") {
      sizes.active.push_back(value);
    } else {
      sizes.products.push_back(value * std::stod(prefix));
    }
  }
  return sizes;
}

void compare_name(const std::string& name, Transformer& model) {
  const NamedSizes sizes = named_sizes(name);
  const double all = parameters(model);
  const double active = active_parameters(model);
  bool agrees = true;
  for (const double size : sizes.all) {
    agrees = agrees && (near(all, size, kNameTolerance) || near(active, size, kNameTolerance));
  }
  for (const double size : sizes.active) agrees = agrees && near(active, size, 2 * kNameTolerance);
  for (const double size : sizes.products) agrees = agrees && all > size / 2 && all < size;
  if (agrees) return;
  model.warnings.push_back(fmt::format("the name {} does not fit {} parameters, {} of them active",
                                       name, count_text(all), count_text(active)));
}

}  // namespace

void compare_sizes(const std::string& path, Transformer& model) {
  const std::filesystem::path file(path);
  const std::filesystem::path folder = file.parent_path();
  std::error_code ignored;
  const std::filesystem::path index = folder / kIndex;
  if (std::filesystem::is_regular_file(index, ignored)) compare_index(index, model);
  const std::string stem = file.stem().string();
  compare_name(
      stem == "config" ? std::filesystem::absolute(folder, ignored).filename().string() : stem,
      model);
}

}  // namespace ridgebench
