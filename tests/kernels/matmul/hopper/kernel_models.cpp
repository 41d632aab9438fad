// Writes the tables of docs/kernel_models.md:
//   kernel_models 8192      8192 cubed, beside what published runs measured
//   kernel_models shapes    the shapes of matmul's full sweep
//   kernel_models split_k   products of few rows
//   kernel_models small     a small C of a long k
//   kernel_models traffic   bytes that the L2 cache delivers for a FLOP
//   kernel_models rasters   bytes of main memory by the order of tiles
#include <iostream>
#include <string_view>

#include "tests/kernels/matmul/hopper/kernel_model_tables.hpp"

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "8192") {
    std::cout << ridgebench::kernel_models_at_8192();
  } else if (what == "shapes") {
    std::cout << ridgebench::kernel_models_of_shapes();
  } else if (what == "split_k") {
    std::cout << ridgebench::kernel_models_of_split_k();
  } else if (what == "small") {
    std::cout << ridgebench::kernel_models_of_small_products();
  } else if (what == "traffic") {
    std::cout << ridgebench::kernel_models_of_traffic();
  } else if (what == "rasters") {
    std::cout << ridgebench::kernel_models_of_rasters();
  } else {
    std::cerr << "usage: kernel_models 8192|shapes|split_k|small|traffic|rasters\n";
    return 2;
  }
  return 0;
}
