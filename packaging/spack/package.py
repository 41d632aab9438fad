import os

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Ridgebench(CMakePackage, CudaPackage):
    """Micro-benchmarks of deep learning's basic operations against the roofline of the device."""

    # Spack fetches the tarball from the folder in which it starts: ridgebench has no download page yet.
    version("0.2.0", url=f"file://{os.getcwd()}/ridgebench-0.2.0.tar.gz")
    license("Apache-2.0")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("fmt@9:")
    depends_on("cli11")
    depends_on("nlohmann-json")
    depends_on("re2")
    depends_on("benchmark@1.7.1:")
    depends_on("cuda@12:", when="+cuda")
    for tool in ("python@3.9:", "py-numpy", "py-scipy", "py-matplotlib", "py-fastjsonschema"):
        depends_on(tool, type="run")

    generator("ninja")

    def cmake_args(self):
        architectures = self.spec.variants["cuda_arch"].value if self.spec.satisfies("+cuda") else ("none",)
        arguments = [self.define_from_variant("RIDGEBENCH_CUDA", "cuda"), self.define("RIDGEBENCH_TESTS", False),
                     self.define("RIDGEBENCH_FETCH", False)]
        if "none" not in architectures:  # the default of the sources otherwise
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return arguments
