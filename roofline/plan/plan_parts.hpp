// Checked inputs and terms of an answer, for all plans. The functions throw UsageError.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/format.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/state.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

// Checks that a value is from 1e-30 to 1e30, which keeps every product and quotient of a plan
// finite.
double positive(std::string_view option, double value);

// Checks a number of parameters: a whole number from 1 to 1e30.
double whole_parameters(double value);

// Checks that a value is a whole number from 1 to kLargestCount.
double whole(std::string_view option, double value);

// Checks that a result is finite, because JSON has no infinity.
double finite(std::string_view result, double value);

nlohmann::ordered_json term(std::string_view name, double value, std::string_view unit);

void set_if(nlohmann::ordered_json& object, const char* key, std::optional<double> value);

// Returns the bytes of each part of the state on one rank, as terms.
nlohmann::ordered_json state_terms(const std::vector<StatePart>& parts, const Sharding& sharding,
                                   double parameters);

// The parameters of the largest linear layer, with all of its experts: the backward pass computes
// their gradient at once.
double parameters_of_largest_layer(const Transformer& model);

// Sets host_bytes and host_link_bytes of a rank whose state is partly on the host.
void add_host(nlohmann::ordered_json& answer, const std::vector<StatePart>& parts,
              const Sharding& sharding, double parameters, double micro_batches = 1);

// True if the work is given by its parameters or tokens, and if it is given once in full.
bool given_by_size(const WorkQuestion& question);
bool given_in_full(const WorkQuestion& question);

// The question, for the inputs of an answer.
nlohmann::ordered_json work_inputs(const WorkQuestion& question);

// Returns 6 x parameters x tokens and adds its terms, or returns the flops as given. The result is
// empty without both.
std::optional<double> training_flops(const WorkQuestion& question, nlohmann::ordered_json& terms);

// The parameters that an optimizer updates: all of a model. Empty for flops.
std::optional<double> updated_parameters(const WorkQuestion& question);

// FLOP/s of one device that an MFU is a share of: `peak`, which must be positive, or that of the
// device in a format. `device` may be null if there is a peak. The inputs get `device`, `format`
// and `peak_from`.
double peak_of_device(std::optional<double> peak, const Roofs* device, FormatPair format,
                      nlohmann::ordered_json& inputs);

// Sets communication_bytes, those that a rank sends in a step, and with a link link_time_s: if each
// rank has a link of its own, and nothing is sent while the rank computes.
void add_communication(nlohmann::ordered_json& answer, double sent_bytes,
                       const std::optional<Link>& link);

// Returns where the rate of a link between ranks comes from, or that one rank does not use it.
// Empty without a link.
std::string link_note(const std::optional<Link>& link, double ranks);

// Returns notes joined by semicolons; empty ones do not count.
std::string joined_notes(const std::vector<std::string>& notes);

// The memory of `count` devices.
struct Capacity {
  std::string name;
  double bytes;
  std::optional<double> usable_bytes = std::nullopt;  // what programs can use, where known
};
// Returns an empty value without a device.
std::optional<Capacity> capacity_of(const Roofs* device, double count);

// Sets `fits` and adds the capacity to the terms; also usable_bytes and `fits_usable`, if known.
// The answer must hold `bytes`.
void add_fits(nlohmann::ordered_json& answer, const Capacity& capacity);

}  // namespace ridgebench
