"""The joint method as a choice that an algorithm offers: `method="auto" | "libsvm" | "joint"`."""

from __future__ import annotations

from typing import Literal

from mklbench.certify import Hinge, Tube
from mklbench.errors import InputError, KindError
from mklbench.kernels.base import Bank, KernelOperator
from mklbench.kernels.contract import NUMBER, Memory, Shape
from mklbench.kernels.row_factors import MANY, RowFactors
from mklbench.optim import joint_search
from mklbench.optim.weight_sets import WeightSet
from mklbench.solution import Solution

Method = Literal["auto", "libsvm", "joint"]
METHODS = ("auto", "libsvm", "joint")


def factors_for(kernels: KernelOperator, method: str, tol: float) -> RowFactors | None:
    """Return the factors of the joint method if that is the one to take, else None.

    Parameters
    ----------
    kernels : KernelOperator
        On the training samples.
    method : str
        One of `METHODS`.
    tol : float
        The relative duality gap asked for.

    Raises
    ------
    InputError
        If `method` is "joint" and the kernels have no factors.
    """
    if method == "libsvm" or (method == "auto" and kernels.n_samples < MANY):
        return None
    if not isinstance(kernels, Bank):
        if method == "joint":
            raise KindError(
                f"method=joint is for banks, and {type(kernels).__name__} is a family: choose "
                "kernels such as kernel=feature_gaussians, or method=libsvm."
            )
        return None
    try:
        factors = kernels.row_factors()
    except InputError:  # too rough
        if method == "joint":
            raise
        return None
    if factors is None:
        if method == "joint":
            raise InputError(
                f"method=joint needs factors of the kernels, and {type(kernels).__name__} has "
                "none: choose kernels on single features, such as kernel=feature_gaussians, linear "
                "kernels on features of Nystroem, or method=libsvm."
            )
        return None
    if method == "joint":
        return factors
    pays = joint_search.pays(kernels.n_samples, joint_search.first_rank(factors), tol)
    return factors if pays else None


def bytes_on_factors(
    kernels: Memory,
    shape: Shape,
    method: str,
    tol: float,
    n_terms: int = 1,
) -> float | None:
    """Return the bytes of kernels and a fit by the joint method; None where it is not taken.

    Parameters
    ----------
    kernels : Memory
        What the kernels need.
    shape : Shape
        Of the samples.
    method : str
        One of `METHODS`.
    tol : float
        The relative duality gap asked for.
    n_terms : int, default=1
        Dual variables a sample, 2 of a regression.
    """
    if kernels.rank is None or method not in ("auto", "joint"):
        return None
    if method == "auto" and not joint_search.pays(shape.n, kernels.rank, tol):
        return None
    on_factors = joint_search.bytes_needed(shape.n, max(kernels.rank, 1), n_terms)
    return bytes_of_samples(shape) + on_factors


def bytes_of_samples(shape: Shape) -> float:
    """Return the bytes of samples, and of a copy of them: all that is kept beside factors."""
    return 2.0 * NUMBER * shape.n * shape.d


def solve(
    factors: RowFactors,
    weight_set: WeightSet,
    loss: Hinge | Tube,
    tol: float,
    max_iter: int,
) -> Solution:
    """Return the solution by the joint method.

    Parameters
    ----------
    factors : RowFactors
        Of the kernels on n samples, without loss.
    weight_set : WeightSet
        Where the weights may be.
    loss : Hinge or Tube
        With the labels or targets of the samples, and the bounds on the dual coefficients.
    tol : float
        The certified relative gap asked for.
    max_iter : int
        Maximum number of iterations on each of the factors.

    Returns
    -------
    Solution
        With an `expansion`; `dual_coef` proves the gap. The last entry of `history` has the gap on
        the factors beside it ("on_factors").
    """
    found, history = joint_search.search(factors, weight_set, loss, tol, max_iter)
    return Solution(
        weights=found.weights,
        dual_coef=found.dual_coef,
        intercept=found.intercept,
        objective=found.objective,
        gap=found.gap,
        n_svm_calls=0,
        n_iter=len(history) - 1,
        converged=found.gap <= tol,
        history=[*history[:-1], {**history[-1], "gap": found.gap, "on_factors": found.on_factors}],
        expansion=found.expansion,
    )
