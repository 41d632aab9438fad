// Where libraries may be that the dynamic loader does not find.
#pragma once

#include <filesystem>
#include <vector>

#include "kernels/common/shared_library.hpp"

namespace ridgebench {

// The folders lib of the active Python environments: VIRTUAL_ENV, CONDA_PREFIX, and the one of the
// interpreter that RIDGEBENCH_PYTHON names.
std::vector<std::filesystem::path> python_library_folders();

// Where cuBLAS of a major version of CUDA may be: in the toolkit that the program was built with,
// in those of CUDA_HOME, CUDA_PATH and /usr/local, or among the packages of pip beside this
// program, of the active environments, of the user and of the machine.
LibraryPlaces cublas_places(int major);

}  // namespace ridgebench
