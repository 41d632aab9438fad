// How a number looks in each format: its bits, the value that they represent, and what rounding
// costs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ridgebench {

// Answers `ridgebench number`. `text` is a number (number.hpp has the grammar), or bits, the sign
// first: 0x3e20, or 0b0_01111_0000000000 with any underscores. `format` is one of kFormats or fp4,
// or that of a scale, ue8m0 or ue4m3; empty represents all formats but those of scales, or for all
// that have as many bits as `text`. fp4 and mxfp8 are rounded without the scale of a block. tf32x3,
// which is stored as fp32, fp64 and int8 are left out.
//
// Returns {number, value, formats}. `value` is the double nearest to the number, null for bits.
// Each of `formats` has
//   format, bits ("0x3e20"), sign (empty for a scale), exponent, mantissa (binary digits),
//   class: zero, subnormal, normal, infinity or nan,
//   decoded: the value, null if it is not finite; exact: the same as text, "5 x 2^-5",
//   outcome: exact, rounded, underflow (to 0), overflow (to infinity) or saturates (at the largest
//     value); null for bits,
//   relative_error: (decoded - value) / value; null without a finite quotient,
//   bias, power, significand, decoding: the value is (-1)^sign x significand x 2^power. A normal
//     number has 1.f and the bits of its exponent - bias, a subnormal one 0.f and 1 - bias.
//     `decoding` is that as text, "1.25 x 2^(124 - 127)". All but bias are null for infinity and
//     NaN.
// Throws UsageError if the text or the format is malformed.
nlohmann::ordered_json number_in_formats(const std::string& text, const std::string& format);

}  // namespace ridgebench
