// Options that take a number, in the one grammar of kernels/common/number.hpp.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ridgebench {

// Returns the number or the fraction (40%) that an option's text represents. Throws UsageError that
// names the option and what it takes.
double number_of(const std::string& option, const std::string& text);
// A number of bytes. A B at the end is refused: it would be a billion, as in 70B parameters.
double bytes_of(const std::string& option, const std::string& text);
double fraction_of(const std::string& option, const std::string& text);

// Returns the whole number from 1 to `most` that an option's text represents, or the numbers of a
// list, "1,8,64". Both throw UsageError.
std::int64_t count_of(const std::string& option, const std::string& text, double most);
std::vector<std::int64_t> counts_of(const std::string& option, const std::string& text,
                                    double most);

// Adds an option that sets `value`, which lives as long as the command.
template <class Number>
CLI::Option* add_number(CLI::App& app, const std::string& flags, Number& value,
                        const std::string& help,
                        double (*read)(const std::string&, const std::string&) = number_of) {
  // A message names all spellings: the user typed one of them.
  const std::size_t comma = flags.find(',');
  const std::string option = comma == std::string::npos
                                 ? flags
                                 : flags.substr(0, comma) + " or " + flags.substr(comma + 1);
  return app
      .add_option_function<std::string>(
          flags, [&value, option, read](const std::string& text) { value = read(option, text); },
          help)
      ->type_name("NUMBER");
}

// Checks that a number is in a range and hands it to CLI11 in plain digits. `allowed` describes the
// range: CLI11's own check prints bounds with up to 300 digits.
CLI::Validator number_in(double low, double high, const std::string& allowed);
// The same for a whole number.
CLI::Validator whole_in(double low, double high, const std::string& allowed);

// Refuses an empty value, which would represent the default.
CLI::Validator not_empty();

}  // namespace ridgebench
