"""AMGKit's preconditioners and Krylov methods for the PETSc that petsc4py uses.

    import amgkit
    amgkit.register()              # before or after petsc4py.init()
    ...
    pc.setType("amgsa")            # or, among the options, -pc_type amgsa

A program that is not in Python loads the same library: `python -m amgkit --options` prints the options for it.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path
from types import ModuleType

from . import _build

__all__ = ["include_dir", "library", "options", "options_file", "options_files", "register", "__version__"]
__version__: str = _build.VERSION

_here = Path(__file__).resolve().parent
_append = re.compile(r"(?<!\S)-dll_append\s+(\"[^\"]*\"|'[^']*'|\S+)")


def library() -> Path:
    """The shared library, which PETSc's option -dll_append loads."""
    return _here / "lib" / "libamgkit.so"


def include_dir() -> Path:
    """The folder of amgkit.h, for programs that are compiled with AMGKit."""
    return _here / "include"


def options_files() -> list[Path]:
    """The files of options that come with AMGKit, for PETSc's option -options_file."""
    return sorted((_here / "share" / "amgkit" / "options").glob("*.opts"))


def options_file(name: str) -> Path:
    """One of options_files() by its name, for example "amgsa"."""
    for path in options_files():
        if path.stem == name:
            return path
    raise ValueError(f"there is no options file {name!r}: choose one of {', '.join(path.stem for path in options_files())}")


def options(petsc_options: str = "") -> str:
    """The text of PETSC_OPTIONS, to which the option that loads AMGKit is added, once.

    PETSc takes only the last -dll_append; so a library that is named there already stays, before this one.
    """
    mine = str(library())
    named = _append.findall(petsc_options)
    libraries = named[-1].strip("\"'").split(",") if named else []
    if mine not in libraries:
        libraries.append(mine)
    value = ",".join(libraries)
    if re.search(r"\s", value):
        value = f'"{value}"'
    return f"{_append.sub('', petsc_options).strip()} -dll_append {value}".strip()


def register() -> None:
    """Makes AMGKit's types known to petsc4py's PETSc, whether it is initialised or will be.

    Before petsc4py.init(), this changes the environment variable PETSC_OPTIONS, so that PETSc loads the library when it starts. A -dll_append
    among the arguments of petsc4py.init() has precedence over that: then call register() afterwards. Each process of a parallel program
    calls it. RuntimeError says that petsc4py has another PETSc than the one that AMGKit was built for.
    """
    petsc = _initialised()
    if petsc is None:
        os.environ["PETSC_OPTIONS"] = options(os.environ.get("PETSC_OPTIONS", ""))
        return
    if ".".join(map(str, petsc.Sys.getVersion()[:2])) != _minor(_build.PETSC_VERSION):
        raise RuntimeError(_another_petsc(".".join(map(str, petsc.Sys.getVersion()))))
    amgkit = ctypes.CDLL(str(library()))
    theirs = ctypes.CDLL(petsc.__file__)
    if _address(amgkit.PetscInitialize) != _address(theirs.PetscInitialize):
        raise RuntimeError(_another_petsc("in another file"))
    error = amgkit.AMGKitRegister()
    if error:
        raise petsc.Error(error)


def _initialised() -> ModuleType | None:
    """petsc4py's module PETSc, if PETSc is initialised."""
    petsc = sys.modules.get("petsc4py.PETSc")
    if petsc is not None and hasattr(petsc, "Sys") and petsc.Sys.isInitialized():
        return petsc
    return None


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _address(function: object) -> int | None:
    return ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]


def _another_petsc(theirs: str) -> str:
    return (
        f"AMGKit was built for PETSc {_build.PETSC_VERSION} in {_build.PETSC_LIBRARY_DIR}, and petsc4py has PETSc {theirs}: "
        "install AMGKit again, with PETSC_DIR and PETSC_ARCH naming petsc4py's PETSc"
    )
