// The roofline on a terminal: at the end of `run`, and as `plot --terminal`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/cli/terminal/roofline.hpp"

namespace ridgebench {

// The style that stdout can show: its width, braille in a UTF-8 locale, and colours on a terminal
// without NO_COLOR. What is not a terminal counts as 80 columns.
RooflineStyle style_of_stdout();

// Returns true if this is `plot --terminal`, which the program draws itself: it needs no Python.
bool is_terminal_plot(int argc, char** argv);

// Adds the options of `plot --terminal` and what it does to the command `plot`.
void add_terminal_plot(CLI::App& command);

// Prints the rooflines of a finished run, if stdout is a terminal that is wide enough. `color` is
// auto, true or false. A run without a ceiling or a verified row has none.
void show_rooflines(const std::string& directory, const std::string& color);

}  // namespace ridgebench
