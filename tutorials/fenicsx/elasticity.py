#!/usr/bin/env python3
"""A beam that bends under its own weight, by linear finite elements on hexahedra with FEniCSx 0.5 (Debian 12).

The rigid body modes are the matrix's near-null space, as for PETSc's GAMG, and amgsa takes them. PETSc's options choose the solver:
     export PETSC_OPTIONS="-dll_append /path/to/libamgkit.so"
     python3 tutorials/fenicsx/elasticity.py -n 16 -ksp_type cg -pc_type amgsa
On a GPU, with matrices and vectors where FEniCSx puts them, on the CPU, add -amgkit_gpu:
     python3 tutorials/fenicsx/elasticity.py -n 16 -ksp_type amgfcg -pc_type amgsa -amgkit_gpu
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

YOUNG, POISSON, WEIGHT = 1.0, 0.3, 1e-4


def assemble(n):
    """The matrix, the right-hand side and the function space of a beam of 3 n x n x n elements, fixed at its end x = 0."""
    beam = mesh.create_box(MPI.COMM_WORLD, [[0.0, 0.0, 0.0], [3.0, 1.0, 1.0]], [3 * n, n, n], mesh.CellType.hexahedron)
    space = fem.VectorFunctionSpace(beam, ("Lagrange", 1))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    mu, lam = YOUNG / (2 + 2 * POISSON), YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))

    def strain(w):
        return ufl.sym(ufl.grad(w))

    stress = 2 * mu * strain(u) + lam * ufl.tr(strain(u)) * ufl.Identity(3)
    at_end = mesh.locate_entities_boundary(beam, 2, lambda x: np.isclose(x[0], 0))
    fixed = [fem.dirichletbc(np.zeros(3), fem.locate_dofs_topological(space, 2, at_end), space)]
    left = fem.form(ufl.inner(stress, strain(v)) * ufl.dx)
    right = fem.form(ufl.dot(fem.Constant(beam, np.array([0, 0, -WEIGHT])), v) * ufl.dx)
    A = fem.petsc.assemble_matrix(left, bcs=fixed)
    A.assemble()
    b = fem.petsc.assemble_vector(right)
    fem.petsc.apply_lifting(b, [left], [fixed])
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    fem.petsc.set_bc(b, fixed)
    return A, b, space


def rigid_body_modes(A, space):
    """Three translations and three rotations, orthonormal. The matrix has blocks of three unknowns, and so has the vector of coordinates."""
    coordinates = A.createVecRight()
    coordinates.setArray(space.tabulate_dof_coordinates()[: space.dofmap.index_map.size_local].ravel())
    return PETSc.NullSpace().createRigidBody(coordinates)


def main():
    A, b, space = assemble(PETSc.Options().getInt("n", 8))
    if PETSc.Options().getBool("modes", True):
        A.setNearNullSpace(rigid_body_modes(A, space))
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
    PETSc.Sys.Print(f"setup {middle - begin:.3f} s, solve {end - middle:.3f} s, relative residual {error:.1e}, largest sag {-x.min()[1]:.5f}")


main()
