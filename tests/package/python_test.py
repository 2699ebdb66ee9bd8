#!/usr/bin/env python3
"""The installed Python package amgkit: what it prints, and register() in fresh processes before and after petsc4py.init().

    python python_test.py [unittest's arguments]

AMGKIT_EXPECT_CUDA=ON or OFF is what the build must be. Without a petsc4py that can be imported, its tests are skipped; with
AMGKIT_EXPECT_PETSC4PY=1 they fail then.
"""

import importlib.metadata
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import amgkit
import amgkit.__main__ as command

SOLVE = """
import numpy
n = 900
A = PETSc.Mat().createAIJ((n, n), nnz=3)
for i in range(*A.getOwnershipRange()):
    for j in (i - 1, i, i + 1):
        if 0 <= j < n: A[i, j] = 2 if i == j else -1
A.assemble()
x, b = A.createVecs()
b.set(1)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("amgfcg")
ksp.getPC().setType("amgsa")
ksp.setTolerances(rtol=1e-8)
ksp.solve(b, x)
assert ksp.getConvergedReason() > 0, ksp.getConvergedReason()
print("type", ksp.getPC().getType())
"""
INIT = "import petsc4py\npetsc4py.init([])\nfrom petsc4py import PETSc\n"
REGISTER = "import amgkit\namgkit.register()\n"

try:
    import petsc4py  # noqa: F401
except ImportError:
    petsc4py = None
if petsc4py is None and os.environ.get("AMGKIT_EXPECT_PETSC4PY"):
    sys.exit("there is no petsc4py")


def python(code, *arguments, **environment):
    """A fresh Python that runs the code; PETSC_OPTIONS is unset unless it is given."""
    clean = {name: value for name, value in os.environ.items() if name != "PETSC_OPTIONS"}
    return subprocess.run([sys.executable, "-c", code, *arguments], env={**clean, **environment}, capture_output=True, text=True, check=False)


def fake_library(folder, source):
    """A library of this C source, in the place of CUDA's driver or of AMGKit."""
    path = Path(folder) / "fake.so"
    (Path(folder) / "fake.c").write_text(source, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(path), str(Path(folder) / "fake.c")], check=True)
    return str(path)


class Files(unittest.TestCase):
    def test_library_header_and_licence_are_installed(self):
        self.assertTrue(amgkit.library().is_file())
        self.assertFalse(amgkit.library().is_symlink())
        self.assertIn("AMGKitRegister", (amgkit.include_dir() / "amgkit.h").read_text(encoding="utf-8"))
        licences = list(amgkit.library().parents[2].glob(f"amgkit-{amgkit.__version__}.dist-info/licenses/LICENSE"))
        self.assertEqual(len(licences), 1)

    def test_pip_and_cmake_agree_on_the_version(self):
        self.assertEqual(importlib.metadata.version("amgkit"), amgkit.__version__)

    def test_no_other_files_lie_beside_the_library(self):
        self.assertEqual([path.name for path in amgkit.library().parent.glob("*.so*")], ["libamgkit.so"])

    def test_options_files(self):
        self.assertIn("amgsa", [path.stem for path in amgkit.options_files()])
        self.assertIn("-pc_type amgsa", amgkit.options_file("amgsa").read_text(encoding="utf-8"))
        with self.assertRaisesRegex(ValueError, "choose one of .*amgsa"):
            amgkit.options_file("no_such_method")

    def test_man_pages_lie_where_man_looks(self):
        self.assertTrue((Path(sys.prefix) / "share" / "man" / "man3" / "amgsa.3").is_file())


class Options(unittest.TestCase):
    def test_are_appended_once(self):
        line = f"-dll_append {amgkit.library()}"
        self.assertEqual(amgkit.options(), line)
        self.assertEqual(amgkit.options("-ksp_view"), f"-ksp_view {line}")
        self.assertEqual(amgkit.options(amgkit.options("-ksp_view")), f"-ksp_view {line}")

    def test_keep_other_libraries(self):
        self.assertEqual(amgkit.options("-dll_append a.so -ksp_view"), f"-ksp_view -dll_append a.so,{amgkit.library()}")
        self.assertEqual(amgkit.options('-dll_append "a b.so"'), f'-dll_append "a b.so,{amgkit.library()}"')
        self.assertEqual(amgkit.options("-my_dll_append a.so"), f"-my_dll_append a.so -dll_append {amgkit.library()}")


class Command(unittest.TestCase):
    def test_prints_what_it_found(self):
        run = subprocess.run([sys.executable, "-m", "amgkit"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        first = run.stdout.splitlines()[0]
        self.assertEqual(shlex.split(first), [f"PETSC_OPTIONS={amgkit.options(os.environ.get('PETSC_OPTIONS', ''))}"])
        self.assertRegex(run.stdout, r"for PETSc: +3\.\d+\.\d+, real scalars in double precision, (32|64)-bit PetscInt\n")
        self.assertRegex(run.stdout, r"PETSc: +/.*libpetsc.*\n")
        self.assertRegex(run.stdout, r"petsc4py: +(3\.\d+\.\d+, fits|not installed)\n")
        cuda = r"yes, for compute capability \d.*" if os.environ.get("AMGKIT_EXPECT_CUDA") == "ON" else "no"
        self.assertRegex(run.stdout, rf"CUDA: +{cuda}\n")
        self.assertRegex(run.stdout, r"options files: /.*amgsa\.opts")

    def test_prints_parts(self):
        def output(*arguments, **environment):
            command_line = [sys.executable, "-m", "amgkit", *arguments]
            return subprocess.run(command_line, env={**os.environ, **environment}, capture_output=True, text=True, check=True).stdout.strip()

        self.assertEqual(output("--library"), str(amgkit.library()))
        self.assertEqual(output("--options", PETSC_OPTIONS="-ksp_view"), amgkit.options("-ksp_view"))

    def test_fails_where_the_library_does_not_load(self):
        code = f"import amgkit.__main__ as c\nc.library = lambda: {str(amgkit.library()) + '.not'!r}\nraise SystemExit(c.main([]))"
        run = python(code)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("the library does not load", run.stdout)

    def test_lists_gpus(self):
        source = """
            #include <string.h>
            int cuInit(unsigned flags) { return flags; }
            int cuDeviceGetCount(int *count) { *count = 2; return 0; }
            int cuDeviceGet(int *device, int number) { *device = number + 7; return 0; }
            int cuDeviceGetName(char *name, int length, int device) { return strcpy(name, device == 7 ? "First" : "Second") && length < 2; }
            int cuDeviceGetAttribute(int *value, int which, int device) { *value = which == 75 ? 9 : device - 7; return which != 75 && which != 76; }
        """
        with tempfile.TemporaryDirectory() as folder:
            found = command.gpus(fake_library(folder, source))
        self.assertEqual(found, ["First, compute capability 9.0", "Second, compute capability 9.1"])

    def test_says_why_there_is_no_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(OSError, r"cuInit\(\) of .* fails with error 100"):
                command.gpus(fake_library(folder, "int cuInit(unsigned flags) { return 100; }"))
        with self.assertRaises(OSError):
            command.gpus("libno_such_driver.so.1")


@unittest.skipIf(petsc4py is None, "there is no petsc4py")
class Register(unittest.TestCase):
    def solves(self, code, *arguments, **environment):
        run = python(code + SOLVE, *arguments, **environment)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("type amgsa", run.stdout)

    def test_without_it_the_type_is_unknown(self):
        run = python(INIT + SOLVE)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("Unknown type", run.stderr)

    def test_before_init(self):
        self.solves(REGISTER + INIT)

    def test_before_an_import_without_init(self):
        self.solves(REGISTER + "from petsc4py import PETSc\n")

    def test_after_init(self):
        self.solves(INIT + REGISTER)

    def test_twice_before_and_after(self):
        self.solves(REGISTER + REGISTER + INIT + REGISTER + "amgkit.register()\n")

    def test_after_options_of_the_user(self):
        self.solves(REGISTER + INIT + 'assert PETSc.Options().getInt("mine") == 3\n', PETSC_OPTIONS="-mine 3")

    def test_after_an_own_list_of_libraries(self):
        own = f"import petsc4py\npetsc4py.init(['-dll_append', {str(amgkit.library())!r}])\nfrom petsc4py import PETSc\n"
        self.solves(REGISTER + own + REGISTER)

    def test_under_mpiexec(self):
        code = INIT + REGISTER + "pc = PETSc.PC().create(); pc.setType('amgclassical'); PETSc.Sys.Print(PETSc.COMM_WORLD.size, pc.getType())"
        run = subprocess.run(["mpiexec", "-n", "2", sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("2 amgclassical", run.stdout)

    def test_refuses_another_petsc(self):
        run = python(INIT + "import amgkit._build\namgkit._build.PETSC_VERSION = '3.5.1'\n" + REGISTER)
        self.assertIn("RuntimeError: AMGKit was built for PETSc 3.5.1", run.stderr)

    def test_refuses_another_copy_of_the_same_petsc(self):
        with tempfile.TemporaryDirectory() as folder:
            other = fake_library(folder, "int PetscInitialize(void) { return 0; }\nint AMGKitRegister(void) { return 0; }")
            run = python(INIT + f"import amgkit\namgkit.library = lambda: {other!r}\namgkit.register()\n")
        self.assertIn("petsc4py has PETSc in another file", run.stderr)

    def test_an_error_of_the_library_is_petscs(self):
        with tempfile.TemporaryDirectory() as folder:
            other = fake_library(folder, "int PetscInitialize(void) { return 0; }\nint AMGKitRegister(void) { return 56; }")
            code = f"import amgkit\namgkit.library = lambda: {other!r}\namgkit._address = lambda function: 0\namgkit.register()\n"
            run = python(INIT + code)
        self.assertIn("PETSc.Error: error code 56", run.stderr)


if __name__ == "__main__":
    unittest.main()
