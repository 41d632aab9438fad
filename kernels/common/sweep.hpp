// Sizes that operations share.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/common/machine.hpp"
#include "kernels/common/operation.hpp"

namespace ridgebench {

// Smallest power of two of elements whose `bytes_per_element` come to 8 x the last-level cache (1
// GiB at most), and to a long launch: DRAM decides the speed, not what is left of a previous pass.
std::int64_t dram_elements(const Machine& machine, double bytes_per_element);

// Sizes of dimension n for an operation with `bytes_per_element` of traffic in fp32: DRAM-sized
// first, then down through the caches to where a launch costs more than the work. All formats share
// the sizes, so that half the bytes shows as half the time.
std::vector<Shape> vector_sweep(Profile profile, Pace pace, const Machine& machine,
                                double bytes_per_element);

// Sizes of m rows of n for an operation on rows, `columns` of them in most shapes, with
// `bytes_per_element` of traffic in fp32: DRAM-sized first, then fewer rows, then other lengths of
// a row. None for the lecture.
std::vector<Shape> row_sweep(Profile profile, Pace pace, const Machine& machine,
                             double bytes_per_element, std::int64_t columns);

// The largest number of elements of a sweep of that traffic: as dram_elements(), and few enough for
// a naive technique.
std::int64_t most_elements(Pace pace, const Machine& machine, double bytes_per_element);

// The same for dimensions m and n: the side of a square matrix of dram_elements, a power of two,
// then smaller ones, and in the full profile also matrices that are not square. Naive techniques
// begin at a quarter of the side.
std::vector<Shape> matrix_sweep(Profile profile, Pace pace, const Machine& machine,
                                double bytes_per_element);

}  // namespace ridgebench
