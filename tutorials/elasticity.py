#!/usr/bin/env python3
"""An elastic body in Python, with petsc4py and numpy: its rigid body modes as the near-null space of the matrix.

The body is a cube of n x n x n nodes. Springs connect each node with its neighbours, diagonal ones included: 26 for a node inside. More
springs connect the lowest nodes with the ground. A spring along d, |d| = 1, adds d d^T to the diagonal blocks of its two nodes and -d d^T
to the blocks that couple them. A translation or rotation of the whole body stretches no spring. Smoothers hardly reduce errors of this
kind, the rigid body modes, so the coarse levels must represent them: MatSetNearNullSpace().

Run it with the petsc4py of the PETSc that AMGKit was built with:
     python3 tutorials/elasticity.py -dll_append /path/to/libamgkit.so -n 30 -ksp_monitor
without the modes, for comparison:
     ... -modes 0
PETSC_OPTIONS="-dll_append /path/to/libamgkit.so" loads the library as well. On a GPU, add:
     ... -mat_type aijcusparse -vec_type cuda
"""

import itertools
import sys

import petsc4py

petsc4py.init(sys.argv)  # before PETSc is imported: it reads -dll_append here and loads the plugin
from petsc4py import PETSc

import numpy as np


def node_positions(A, n):
    """x, y and z of this rank's nodes; node (z n + y) n + x has three rows."""
    first, end = A.getOwnershipRange()
    nodes = np.arange(first // 3, end // 3)
    return nodes, np.stack([nodes % n, nodes // n % n, nodes // n**2], axis=1)


def stiffness(n):
    """The matrix, each rank computing its own rows in compressed form."""
    A = PETSc.Mat().create()
    A.setSizes((3 * n**3, 3 * n**3))
    A.setBlockSize(3)
    A.setFromOptions()  # -mat_type
    A.setUp()
    nodes, position = node_positions(A, n)
    # a column of these tables for each neighbour a node may have, itself included, in ascending order
    steps = np.array(list(itertools.product((-1, 0, 1), repeat=3)))[:, ::-1]
    d = steps / np.maximum(np.linalg.norm(steps, axis=1), 1)[:, None]
    stiff = np.einsum("si,sj->sij", d, d)
    other = position[:, None, :] + steps
    spring = np.all((other < n) & (other >= [0, 0, -1]), axis=2)  # z = -1 is the ground
    present = spring & (other[:, :, 2] >= 0)
    blocks = np.repeat(-stiff[None], nodes.size, axis=0)
    blocks[:, 13] = np.einsum("ns,sij->nij", spring, stiff)

    # component i of a node has a row: of each neighbour that there is, component j
    shape = (nodes.size, 3, 27, 3)
    there = np.broadcast_to(present[:, None, :, None], shape)
    columns = np.broadcast_to((3 * (other @ [1, n, n**2])[:, :, None] + np.arange(3))[:, None], shape)
    ends = np.concatenate([[0], np.cumsum(np.repeat(3 * present.sum(axis=1), 3))])
    A.setPreallocationCSR((ends.astype(PETSc.IntType), columns[there].astype(PETSc.IntType), blocks.transpose(0, 2, 1, 3)[there]))
    A.setOption(PETSc.Mat.Option.SPD, True)
    return A


def rigid_body_modes(A, n):
    """Three translations and three rotations, orthonormal."""
    coordinates = A.createVecRight()  # has the matrix's block size, 3
    coordinates.setArray(node_positions(A, n)[1].astype(float).ravel())
    return PETSc.NullSpace().createRigidBody(coordinates)


def main():
    options = PETSc.Options()
    n = options.getInt("n", 14)
    A = stiffness(n)
    if options.getBool("modes", True):
        A.setNearNullSpace(rigid_body_modes(A, n))
    u, b = A.createVecs()
    answer = u.duplicate()
    x, y, z = node_positions(A, n)[1].T / n
    answer.setArray(np.stack([np.sin(2 * z), x * y, -z * z], axis=1).ravel())
    A.mult(answer, b)

    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.getPC().setType("amgsa")
    ksp.setTolerances(rtol=1e-8)
    ksp.setFromOptions()
    ksp.solve(b, u)

    u.axpy(-1, answer)
    error = u.norm(PETSc.NormType.INFINITY)
    right = ksp.getConvergedReason() > 0 and error < 1e-4
    PETSc.Sys.Print(f"{'Right' if right else 'WRONG'}: {ksp.getIterationNumber()} iterations, largest error {error:.1e}")
    return 0 if right else 1


sys.exit(main())
