"""Conic programmes by Clarabel, with the settings that all solvers here share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import clarabel
import numpy as np
from scipy import sparse

from mklbench.kernels.base import Array


def conic_optimum(
    quadratic: sparse.csc_matrix,
    linear: Array,
    parts: Sequence[tuple[sparse.spmatrix, Array, Any]],
    tol: float,
    equilibrate: bool = True,
) -> clarabel.DefaultSolution:
    """Return Clarabel's minimum of 1/2 x'Px + q'x, from one thread.

    Parameters
    ----------
    quadratic, linear : sparse matrix of shape (k, k), ndarray of shape (k,)
        P and q.
    parts : sequence of tuple
        A, b and the cone that b - A x is in.
    tol : float
        Of the gap and the residuals.
    equilibrate : bool, default=True
        Whether Clarabel scales the programme.
    """
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.direct_solve_method = "qdldl"  # of one thread
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    settings.equilibrate_enable = equilibrate
    matrices, sides, cones = zip(*parts, strict=True)
    A = sparse.vstack([sparse.csr_matrix(matrix) for matrix in matrices], format="csc")
    solver = clarabel.DefaultSolver(
        quadratic, linear, A, np.concatenate(sides), list(cones), settings
    )
    return solver.solve()
