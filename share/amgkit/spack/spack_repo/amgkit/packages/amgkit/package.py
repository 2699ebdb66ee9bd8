import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Amgkit(CMakePackage, CudaPackage):
    """AMGKit adds algebraic multigrid and ILU preconditioners to PETSc, on NVIDIA GPUs and on CPUs.

    PETSc's programs load it by the option -dll_append $AMGKIT_DIR/lib/libamgkit.so, without a change.
    """

    # The branch main of the clone that this recipe lies in
    git = pathlib.Path(__file__).resolve().parents[7].as_uri()

    license("BSD-2-Clause")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi")
    depends_on("petsc@3.18:3.26+mpi+shared+double~complex")
    depends_on("petsc@3.24:+cuda", when="+cuda")
    depends_on("cuda@12.4:", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"petsc cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")

    generator("ninja")

    requires("%gcc@12:", "%clang@14:", policy="any_of", msg="AMGKit is written in C++20")
    conflicts("^petsc@:3.25+int64", when="+cuda", msg="64-bit PetscInt with CUDA needs PETSc 3.26")

    def cmake_args(self):
        args = [
            self.define_from_variant("AMGKIT_CUDA", "cuda"),
            self.define("AMGKIT_KOKKOS", False),
            self.define("AMGKIT_TESTS", False),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define("PETSC_DIR", self.spec["petsc"].prefix),
            self.define("PETSC_ARCH", ""),
        ]
        if self.spec.satisfies("+cuda") and "none" not in self.spec.variants["cuda_arch"].value:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args

    def setup_build_environment(self, env: EnvironmentModifications) -> None:
        env.set("AMGKIT_SOURCES_PER_FILE", "6")  # the fastest full build

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        env.set("AMGKIT_DIR", self.prefix)
