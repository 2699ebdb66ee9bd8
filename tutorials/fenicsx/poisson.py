#!/usr/bin/env python3
"""Poisson's equation by finite elements on a cube of tetrahedra, with FEniCSx 0.5 (Debian 12): -div grad u = 1, u = 0 on the boundary.

The program has no line about AMGKit. PETSc's options choose the solver:
     export PETSC_OPTIONS="-dll_append /path/to/libamgkit.so"
     python3 tutorials/fenicsx/poisson.py -n 60 -ksp_type cg -pc_type amgsa
On a GPU, with matrices and vectors where FEniCSx puts them, on the CPU, add -amgkit_gpu:
     python3 tutorials/fenicsx/poisson.py -n 60 -ksp_type amgfcg -pc_type amgmatching -amgkit_gpu
"""

import sys
import time

import petsc4py

petsc4py.init(sys.argv)  # before PETSc is imported: it reads the options
from petsc4py import PETSc

import numpy as np
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI


def assemble(n):
    """The matrix and the right-hand side of linear elements."""
    cube = mesh.create_unit_cube(MPI.COMM_WORLD, n, n, n)
    space = fem.FunctionSpace(cube, ("Lagrange", 1))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    on_boundary = mesh.locate_entities_boundary(cube, 2, lambda x: np.full(x.shape[1], True))
    fixed = [fem.dirichletbc(PETSc.ScalarType(0), fem.locate_dofs_topological(space, 2, on_boundary), space)]
    left = fem.form(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx)
    right = fem.form(fem.Constant(cube, PETSc.ScalarType(1)) * v * ufl.dx)
    A = fem.petsc.assemble_matrix(left, bcs=fixed)
    A.assemble()
    b = fem.petsc.assemble_vector(right)
    fem.petsc.apply_lifting(b, [left], [fixed])
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    fem.petsc.set_bc(b, fixed)
    return A, b


def main():
    A, b = assemble(PETSc.Options().getInt("n", 20))
    x = b.duplicate()
    ksp = PETSc.KSP().create(A.getComm())
    ksp.setOperators(A)
    ksp.setTolerances(rtol=1e-8)
    ksp.setFromOptions()  # the line that lets the options in
    begin = time.perf_counter()
    ksp.setUp()
    middle = time.perf_counter()
    ksp.solve(b, x)
    end = time.perf_counter()
    error = (b - A * x).norm() / b.norm()
    PETSc.Sys.Print(f"{A.getSize()[0]} unknowns, {ksp.getType()} with {ksp.getPC().getType()}: {ksp.getIterationNumber()} iterations,")
    PETSc.Sys.Print(f"setup {middle - begin:.3f} s, solve {end - middle:.3f} s, relative residual {error:.1e}, largest value {x.max()[1]:.5f}")


main()
