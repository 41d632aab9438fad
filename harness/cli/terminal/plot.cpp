#include "harness/cli/terminal/plot.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/terminal/picture.hpp"
#include "harness/results/measured_roofs.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

struct PlotOptions {
  bool terminal = false;
  std::vector<std::string> directories;  // one at most
  std::string on;
  std::string device;
  int width = 0;
  bool ascii = false;
  bool no_color = false;
};

void print_picture(const RooflinePicture& picture, const RooflineStyle& style) {
  for (const std::string& line : draw_roofline(picture, style)) fmt::print("{}\n", line);
}

std::vector<RooflinePicture> pictures_of(const PlotOptions& options) {
  if (!options.on.empty()) return {picture_of_device(options.on)};
  const std::string& directory = options.directories.front();
  const auto results = results_of(directory);
  if (!results) {
    throw UsageError(
        fmt::format("{} is not a results directory; allowed: a folder that `ridgebench "
                    "run` wrote, or --on DEVICE",
                    directory));
  }
  const std::string& device = options.device.empty() ? results->device : options.device;
  return require_pictures(results->directory, device);
}

void plot_on_terminal(const PlotOptions& options) {
  if (options.directories.size() > 1) {
    throw UsageError(fmt::format(
        "plot --terminal: {} results directories; allowed: one results directory or --on DEVICE",
        options.directories.size()));
  }
  if (options.directories.empty() && options.on.empty()) {
    throw UsageError(
        "plot --terminal: nothing to draw; allowed: a results directory or --on DEVICE");
  }
  RooflineStyle style = style_of_stdout();
  if (options.width > 0) style.columns = options.width;
  if (options.ascii) style.page.braille = false;
  if (options.no_color) style.page.color = false;
  if (style.columns < kFewestColumns) {
    throw UsageError(fmt::format("the terminal has {} columns; allowed: {} or more, or --width",
                                 style.columns, kFewestColumns));
  }
  bool first = true;
  for (const RooflinePicture& picture : pictures_of(options)) {
    if (!std::exchange(first, false)) fmt::print("\n");
    print_picture(picture, style);
  }
}

}  // namespace

RooflineStyle style_of_stdout() {
  const std::optional<Terminal> terminal = terminal_of(STDOUT_FILENO);
  RooflineStyle style;
  if (terminal) style.columns = terminal->columns;
  style.page.braille = shows_utf8() && (!terminal || terminal->escapes);
  style.page.color = wants_color(STDOUT_FILENO);
  return style;
}

bool is_terminal_plot(int argc, char** argv) {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  return argc > 1 && std::string_view(argv[1]) == "plot" &&
         std::ranges::any_of(arguments.subspan(2), [](const char* argument) {
           return std::string_view(argument) == "--terminal";
         });
}

void add_terminal_plot(CLI::App& command) {
  const auto options = std::make_shared<PlotOptions>();
  command.name("plot --terminal")->alias("plot");  // messages name this form of the command
  command.description("Draw the roofline of a results folder or of a device on the terminal");
  command.add_flag("--terminal", options->terminal, "Draw on the terminal, which needs no Python");
  CLI::Option* directory =
      command.add_option("directory", options->directories, "Results folder, also as DIR@cpu")
          ->check(not_empty())
          ->type_name("DIR");
  command
      .add_option("--on", options->on, "Data sheet, sheet file or results folder: only its roofs")
      ->check(not_empty())
      ->type_name("SHEET")
      ->excludes(directory);
  command.add_option("--device", options->device, "Device of the folder to draw; default: each")
      ->check(not_empty())
      ->needs(directory);
  command.add_option("--width", options->width, "Columns; default: those of the terminal, or 80")
      ->transform(whole_in(kFewestColumns, kMostColumns, "a whole number from 60 to 140"));
  command.add_flag("--ascii", options->ascii, "No braille; default if the locale is not UTF-8");
  command.add_flag("--no-color", options->no_color, "No colours; also where NO_COLOR is set");
  command.callback([options] { plot_on_terminal(*options); });
}

void show_rooflines(const std::string& directory, const std::string& color) try {
  if (!terminal_of(STDOUT_FILENO)) return;
  RooflineStyle style = style_of_stdout();
  if (color != "auto") style.page.color = color == "true";
  if (style.columns < kFewestColumns) return;
  for (const RooflinePicture& picture : read_pictures(directory, {})) {
    fmt::print("\n");
    print_picture(picture, style);
  }
} catch (const UsageError& error) {
  // The run is complete all the same.
  write_error(fmt::format("note: no roofline: {}\n", printable(error.what())));
}

}  // namespace ridgebench
