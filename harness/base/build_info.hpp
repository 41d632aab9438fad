// Facts of the build that a run records. cmake/build_info.cmake writes their values into a source
// file of their own, so that a commit compiles that file again and no other.
#pragma once

namespace ridgebench::build_info {

extern const char* const version;
extern const char* const commit;  // empty outside a git checkout
extern const bool dirty;          // the checkout had changes that were not committed
extern const char* const compiler;
extern const char* const flags;
extern const char* const build_type;
extern const char* const google_benchmark;  // its version; empty if the library does not say it
extern const char* const cuda;              // nvcc and the compute capabilities; empty without CUDA
extern const char* const cub;               // its version; empty without CUDA

}  // namespace ridgebench::build_info
