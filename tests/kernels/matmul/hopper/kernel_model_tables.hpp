// The tables of docs/kernel_models.md: what arithmetic predicts of kernels, beside what published
// runs measured.
#pragma once

#include <string>

namespace ridgebench {

// 8192 cubed. Throws where a published run lacks a row that the table compares.
std::string kernel_models_at_8192();
// The shapes of matmul's full sweep.
std::string kernel_models_of_shapes();
// wgmma_split_k: shares of the memory's rate. Throws as the first one.
std::string kernel_models_of_split_k();
// A small C of a long k.
std::string kernel_models_of_small_products();
// Bytes that the L2 cache delivers to an SM for 1000 FLOP in bf16.
std::string kernel_models_of_traffic();
// Bytes of main memory at 8192 cubed in bf16, by the order of tiles.
std::string kernel_models_of_rasters();

}  // namespace ridgebench
