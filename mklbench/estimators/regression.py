"""Regression with kernel weights on the simplex: ``MKLRegressor(C=10).fit(X, y)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mklbench.algorithms import mkl_svr
from mklbench.estimators.learners import KernelRegressor
from mklbench.estimators.methods import TakesMethod
from mklbench.kernels import Kernel

__all__ = ["MKLRegressor"]


@dataclass(eq=False, repr=False)
class MKLRegressor(TakesMethod, KernelRegressor):
    """Support vector regression on a learned sparse combination of kernels (`mkl_svr`).

    The problem is in `mklbench.algorithms.mkl_svr`.

    Parameters
    ----------
    kernel : str, callable or list, default="simplemkl"
        A bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual; it
        has the units of y.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, in units of y.
    tol : float, default=0.0001
        Certified relative duality gap at which to stop.
    max_iter : int, default=100
        Maximum number of SVR calls; for the joint method, of iterations.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" solves SVRs on Gram matrices; "joint" all together on factors, for many samples
        with kernels on single features; "auto" takes the faster of the two. `method_` says which it
        was.
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    """

    _algorithm = mkl_svr

    kernel: Kernel = "simplemkl"
    C: float = 100.0
    epsilon: float = 0.1
    tol: float = 1e-4
    max_iter: int = 100
    method: Literal["auto", "libsvm", "joint"] = "auto"
    verbose: int = 0
