// How the magnitudes of many numbers, such as gradients, lie in the range of each format.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ridgebench {

// Answers `ridgebench number --histogram`. `source` is normal:SIGMA, a normal distribution around 0
// in closed form, or the path of a file of numbers (kernels/common/number.hpp) with spaces, commas
// or line ends between them. `scale` is above 0: loss scaling multiplies gradients by it, so that
// fewer underflow (Micikevicius et al., arXiv 1710.03740, section 3.2). `format` is as in
// rounding.hpp.
//
// Returns {source, scale, count, zeros, bins, formats}. `count` is the number of values and `zeros`
// those that are 0, which no share counts; both are null for a distribution. Each of `bins` has
//   exponent e and the share of magnitudes from 2^e to below 2^(e+1), before scaling; a
//   distribution has the bins with a share of 1e-6 or more.
// Each of `formats` has its name and, `unscaled` and `scaled`, the shares of
//   underflow: what rounds to 0; subnormal: what keeps fewer digits; overflow: what becomes
//   infinity or saturates at the largest value.
// Throws UsageError for a malformed source, scale or format, and for a file without a number but 0.
nlohmann::ordered_json histogram(const std::string& source, double scale,
                                 const std::string& format);

}  // namespace ridgebench
