#!/usr/bin/env python3
"""The Spack recipe, with stand-ins for Spack's modules: it says the same as the README and CMakeLists.txt about versions, and CMake configures
AMGKit with its arguments, each of which AMGKit uses.

    spack_test.py RECIPE SOURCE SCRATCH CMAKE    PETSC_DIR names an installed PETSc
"""

import importlib.util
import os
import re
import subprocess
import sys
import types
import urllib.parse
import urllib.request


class Spec:
    """What a recipe asks of a spec: its variants, and the prefix of PETSc."""

    def __init__(self, **variants):
        self.variants = {name: types.SimpleNamespace(value=value) for name, value in variants.items()}
        self.prefix = os.environ["PETSC_DIR"]

    def satisfies(self, text):
        return bool(self.variants[text.lstrip("+~")].value) == text.startswith("+")

    def __getitem__(self, package):
        assert package == "petsc", package
        return self


class CMakePackage:
    def define(self, name, value):
        text = ";".join(value) if isinstance(value, tuple) else {True: "ON", False: "OFF"}.get(value, value)
        return f"-D{name}={text}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.spec.variants[variant].value)


class CudaPackage:
    cuda_arch_values = ("80", "90")


def load(path):
    """The recipe's class, and the arguments of its directives: name -> list of (positional, named)."""
    said = {}

    def directive(name):
        return lambda *positional, **named: said.setdefault(name, []).append((positional, named))

    names = ("conflicts", "depends_on", "license", "requires", "variant", "version")
    modules = {"spack.package": {name: directive(name) for name in names}}
    modules["spack.package"]["EnvironmentModifications"] = dict
    modules["spack_repo.builtin.build_systems.cmake"] = {"CMakePackage": CMakePackage, "generator": directive("generator")}
    modules["spack_repo.builtin.build_systems.cuda"] = {"CudaPackage": CudaPackage}
    for name, content in modules.items():
        parts = name.split(".")
        for k in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:k]), types.ModuleType(".".join(parts[:k])))
        vars(sys.modules[name]).update(content)
    spec = importlib.util.spec_from_file_location("package", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Amgkit, said


def requirement(said, package, when=None):
    """What the recipe says after the name of a package that it depends on."""
    found = [text[0] for text, named in said["depends_on"] if re.match(package + r"\b", text[0]) and named.get("when") == when]
    assert len(found) == 1, (package, found)
    return found[0].removeprefix(package)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def check_versions(recipe, said, source):
    readme, lists = read(source, "README.md"), read(source, "CMakeLists.txt")
    first, last = re.search(r"PETSc (3\.\d+) to (3\.\d+) with real double-precision scalars", readme).groups()
    assert requirement(said, "petsc") == f"@{first}:{last}+mpi+shared+double~complex", requirement(said, "petsc")
    with_cuda, index64 = re.search(r"must be (3\.\d+) or newer\.\s+With 64-bit `PetscInt` it must be (3\.\d+)\.", readme).groups()
    assert requirement(said, "petsc", "+cuda") == f"@{with_cuda}:+cuda"
    refused, _ = said["conflicts"][0]
    assert refused[0] == f"^petsc@:3.{int(index64.split('.')[1]) - 1}+int64", refused
    toolkit = re.search(r"CUDA Toolkit ([\d.]+) or newer", readme).group(1)
    assert requirement(said, "cuda", "+cuda") == f"@{toolkit}:"
    assert requirement(said, "cmake") == f"@{re.search(r'cmake_minimum_required.VERSION ([0-9.]+)', lists).group(1)}:"
    assert [text for text, named in said["depends_on"] if named.get("when") == "+cuda cuda_arch=90"] == [("petsc cuda_arch=90",)]
    clone = urllib.request.url2pathname(urllib.parse.urlparse(recipe.git).path)
    assert os.path.samefile(clone, source), clone


def check_arguments(recipe, source, scratch, cmake):
    package = recipe()
    package.spec = Spec(cuda=True, cuda_arch=("80", "90"))
    assert {"-DAMGKIT_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=80;90"} <= set(package.cmake_args()), package.cmake_args()
    package.spec = Spec(cuda=True, cuda_arch=("none",))
    assert not [argument for argument in package.cmake_args() if "ARCHITECTURES" in argument], package.cmake_args()
    package.spec = Spec(cuda=False)
    command = [cmake, "-S", source, "-B", scratch, "-G", "Ninja", "--fresh", *package.cmake_args()]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(run.stdout)
    assert run.returncode == 0, command
    assert "were not used by the project" not in run.stdout


def main(path, source, scratch, cmake):
    recipe, said = load(path)
    check_versions(recipe, said, source)
    check_arguments(recipe, source, scratch, cmake)
    print("passed")


if __name__ == "__main__":
    main(*sys.argv[1:])
