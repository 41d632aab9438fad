// Collective operations of ranks that are joined by links: the bytes that each rank sends.
#pragma once

#include <string>
#include <string_view>

namespace ridgebench {

// Returns the bytes that the busiest of `ranks` ranks sends or receives in one direction when a
// message of `bytes` goes through a collective of collective_names(). The message is the array that
// a rank reduces, gathers, scatters, exchanges, sends or receives as a whole, as in nccl-tests, so
// that bytes over time is its bus bandwidth. On a ring
// of n ranks an all-gather and a reduce-scatter send (n - 1) / n of the message, and an all-reduce
// is one of each: no algorithm sends less without sums in the network. Source: Patarasuk and Yuan,
// "Bandwidth optimal all-reduce algorithms", 2009; nccl-tests, doc/PERFORMANCE.md. Throws
// UsageError for another collective.
double sent_by_a_rank(std::string_view collective, double bytes, double ranks);

// The names of the collectives, for help: "all-reduce, all-gather, ...".
std::string collective_names();

}  // namespace ridgebench
