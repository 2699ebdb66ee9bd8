#!/usr/bin/env python3
"""A 2D Poisson problem in Python, with petsc4py, numpy and the preconditioner from the plugin.

     -div grad u = f on the unit square, u = 0 on its boundary, 5-point differences on an n x n grid, with an f whose solution is known

Run it with the petsc4py of the PETSc that AMGKit was built with:
     python3 tutorials/poisson.py -dll_append /path/to/libamgkit.so -n 500 -ksp_monitor
     mpiexec -n 2 python3 tutorials/poisson.py -dll_append /path/to/libamgkit.so -ksp_view
PETSC_OPTIONS="-dll_append /path/to/libamgkit.so" loads the library as well, and so does amgkit.register() of the Python package. On a GPU, add:
     ... -mat_type aijcusparse -vec_type cuda
On Debian, install python3-petsc4py-real. If there is more than one PETSc, set PYTHONPATH=$PETSC_DIR/lib/python3/dist-packages.
"""

import sys

import petsc4py

petsc4py.init(sys.argv)  # before PETSc is imported: it reads -dll_append here and loads the plugin
from petsc4py import PETSc

import numpy as np


def laplacian(n):
    """The matrix, each rank computing its own rows in compressed form. Grid point (i, j) is row n i + j."""
    A = PETSc.Mat().create()
    A.setSizes((n * n, n * n))
    A.setFromOptions()  # -mat_type
    A.setUp()
    rows = np.arange(*A.getOwnershipRange())
    i, j = np.divmod(rows, n)
    # a column of this table for each entry a row may have, in ascending order
    present = np.stack([i > 0, j > 0, np.full(rows.size, True), j < n - 1, i < n - 1], axis=1)
    columns = rows[:, None] + np.array([-n, -1, 0, 1, n])
    values = np.broadcast_to(np.array([-1.0, -1.0, 4.0, -1.0, -1.0]), present.shape)
    ends = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    A.setPreallocationCSR((ends.astype(PETSc.IntType), columns[present].astype(PETSc.IntType), values[present]))
    A.setOption(PETSc.Mat.Option.SPD, True)
    return A


def known_answer(n, x):
    """sin(pi x) sin(2 pi y) in x's rows, and the eigenvalue of the matrix that belongs to it."""
    h = np.pi / (n + 1)
    i, j = np.divmod(np.arange(*x.getOwnershipRange()), n)
    x.setArray(np.sin((i + 1) * h) * np.sin(2 * (j + 1) * h))
    return 4 * np.sin(h / 2) ** 2 + 4 * np.sin(h) ** 2


def main():
    options = PETSc.Options()
    n = options.getInt("n", 200)
    A = laplacian(n)
    u, b = A.createVecs()
    answer = u.duplicate()
    eigenvalue = known_answer(n, answer)
    answer.copy(b)
    b.scale(eigenvalue)

    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType("amgfcg")  # flexible conjugate gradients, from the plugin as well
    ksp.getPC().setType("amgmatching")
    ksp.setTolerances(rtol=1e-8)
    # An option of the preconditioner, unless the user gives it: aggregates of about 2^2 rows.
    if not options.hasName("pc_amgmatching_matching_steps"):
        options["pc_amgmatching_matching_steps"] = 2
    ksp.setFromOptions()
    ksp.solve(b, u)

    u.axpy(-1, answer)
    error = u.norm(PETSc.NormType.INFINITY)
    right = ksp.getConvergedReason() > 0 and error < 1e-4
    PETSc.Sys.Print(f"{'Right' if right else 'WRONG'}: {ksp.getIterationNumber()} iterations, largest error {error:.1e}")
    return 0 if right else 1


sys.exit(main())
