"""Says how to load AMGKit, for which PETSc it was built, and what this machine has.

    python -m amgkit              all of it
    python -m amgkit --options    the text of PETSC_OPTIONS only, with what the variable holds already
    python -m amgkit --library    the library's path only

The exit status is 1 if the library cannot be loaded here.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shlex
import sys
from typing import Sequence

from . import __version__, _build, _minor, library, options, options_files

_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76  # of CUdevice_attribute


def gpus(driver: str = "libcuda.so.1") -> list[str]:
    """The GPUs that CUDA's driver shows, as "name, compute capability X.Y". OSError says why it shows none."""
    cuda = ctypes.CDLL(driver)

    def call(name: str, *arguments: object) -> None:
        status = getattr(cuda, name)(*arguments)
        if status:
            raise OSError(f"{name}() of {driver} fails with error {status}")

    call("cuInit", 0)
    count = ctypes.c_int()
    call("cuDeviceGetCount", ctypes.byref(count))
    found = []
    for number in range(count.value):
        device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        name = ctypes.create_string_buffer(256)
        call("cuDeviceGet", ctypes.byref(device), number)
        call("cuDeviceGetName", name, len(name), device)
        call("cuDeviceGetAttribute", ctypes.byref(major), _CAPABILITY_MAJOR, device)
        call("cuDeviceGetAttribute", ctypes.byref(minor), _CAPABILITY_MINOR, device)
        found.append(f"{name.value.decode()}, compute capability {major.value}.{minor.value}")
    return found


def loaded_petsc() -> str:
    """The file of the PETSc that comes with the library. OSError says why the library does not load."""
    ctypes.CDLL(str(library()))
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = [line.split(maxsplit=5)[-1].strip() for line in maps]
    return next((path for path in files if os.path.basename(path).startswith("libpetsc")), "")


def petsc4py() -> str:
    """Whether petsc4py is here, and for the same PETSc."""
    try:
        import petsc4py as module
    except ImportError:
        return "not installed"
    fits = _minor(module.__version__) == _minor(_build.PETSC_VERSION)
    return f"{module.__version__}, {'fits' if fits else f'does not fit: it needs PETSc {_minor(module.__version__)}'}"


def report() -> tuple[str, bool]:
    """What is found, and whether the library loads."""
    cuda = f"yes, for compute capability {_build.CUDA_ARCHITECTURES.replace(';', ', ')}" if _build.CUDA else "no"
    try:
        petsc, loads = loaded_petsc(), True
    except OSError as error:
        petsc, loads = f"the library does not load: {error}", False
    try:
        devices = "; ".join(gpus()) or "none"
    except OSError as error:
        devices = f"none: {error}"
    files = options_files()
    lines = [
        f"PETSC_OPTIONS={shlex.quote(options(os.environ.get('PETSC_OPTIONS', '')))}",
        "",
        f"AMGKit:        {__version__}",
        f"for PETSc:     {_build.PETSC_VERSION}, real scalars in double precision, {_build.INDEX_BITS}-bit PetscInt",
        f"PETSc:         {petsc}",
        f"petsc4py:      {petsc4py()}",
        f"CUDA:          {cuda}",
        f"GPUs:          {devices}",
        f"options files: {files[0].parent}: {', '.join(path.name for path in files)}",
    ]
    return "\n".join(lines), loads


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m amgkit", description="How to load AMGKit, and what it finds on this machine.")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--options", action="store_true", help="print the text of PETSC_OPTIONS only")
    only.add_argument("--library", action="store_true", help="print the library's path only")
    chosen = parser.parse_args(arguments)
    if chosen.options:
        print(options(os.environ.get("PETSC_OPTIONS", "")))
        return 0
    if chosen.library:
        print(library())
        return 0
    text, loads = report()
    print(text)
    return 0 if loads else 1


if __name__ == "__main__":
    sys.exit(main())
