"""The joint method as a choice that an algorithm offers: `method="auto" | "libsvm" | "joint"`."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from mklbench.certify import Hinge, Tube
from mklbench.errors import InputError, KindError
from mklbench.kernels.base import Bank, KernelOperator
from mklbench.kernels.landmarks import IN_USE, MOST
from mklbench.kernels.memory import NUMBER, Memory, Shape
from mklbench.kernels.row_factors import MANY, RowFactors
from mklbench.optim import joint_search, landmark_search
from mklbench.optim.weight_sets import WeightSet
from mklbench.solution import Solution

Method = Literal["auto", "libsvm", "joint"]
METHODS = ("auto", "libsvm", "joint")


def factors_for(
    kernels: KernelOperator, method: str, tol: float, landmarks: int | None = None
) -> RowFactors | None:
    """Return the factors of the joint method if that is the one to take, else None.

    Parameters
    ----------
    kernels : KernelOperator
        On the training samples.
    method : str
        One of `METHODS`.
    tol : float
        The relative duality gap asked for.
    landmarks : int or None, default=None
        Of each kernel that has no exact factors; as many as it takes if not given.

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
    approximated = kernels.n_approximated
    if method == "auto" and approximated and not _pays(kernels.n_samples, 0, approximated, tol):
        return None  # before landmarks are looked for
    try:
        factors = kernels.row_factors(landmarks)
    except InputError:  # too rough
        if method == "joint":
            raise
        return None
    if factors is None:
        if method == "joint":
            raise InputError(
                f"method=joint needs factors of the kernels, and {type(kernels).__name__} has "
                "none: choose kernels on single features, such as kernel=feature_gaussians, or "
                "method=libsvm."
            )
        return None
    if method == "joint":
        return factors
    rank = 0 if approximated else joint_search.first_rank(factors)
    return factors if _pays(kernels.n_samples, rank, approximated, tol) else None


def bytes_on_factors(
    kernels: Memory,
    shape: Shape,
    method: str,
    tol: float,
    n_terms: int = 1,
    landmarks: int | None = None,
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
    landmarks : int or None, default=None
        Of each kernel that has no exact factors; where they are given "auto" is "joint".
    """
    if kernels.rank is None or method not in ("auto", "joint"):
        return None
    approximated = kernels.approximated
    pays = landmarks is not None or _pays(shape.n, kernels.rank, approximated, tol)
    if method == "auto" and not pays:
        return None
    rank, kept = kernels.rank, kernels.streamed
    if landmarks is not None and approximated:
        landmarks = min(landmarks, shape.n)  # more are refused, which is not for here to say
        rank += min(approximated, IN_USE) * (landmarks - min(shape.n, MOST))
        kept += NUMBER * approximated * landmarks**2
    return kept + joint_search.bytes_needed(shape.n, max(rank, 1), approximated, n_terms)


def _pays(n: int, rank: int, approximated: int, tol: float) -> bool:
    """Tell whether "auto" takes the joint method; where that means landmarks, as a last resort."""
    if approximated:
        return joint_search.beyond_grams(n, approximated)
    return joint_search.pays(n, rank, tol)


def solve(
    factors: RowFactors,
    weight_set: WeightSet,
    loss: Hinge | Tube,
    tol: float,
    max_iter: int,
    landmarks: int | None = None,
) -> Solution:
    """Return the solution by the joint method.

    Parameters
    ----------
    factors : RowFactors
        Of the kernels on n samples, without loss but for landmarks.
    weight_set : WeightSet
        Where the weights may be.
    loss : Hinge or Tube
        With the labels or targets of the samples, and the bounds on the dual coefficients.
    tol : float
        The certified relative gap asked for.
    max_iter : int
        Maximum number of iterations on each of the factors.
    landmarks : int or None, default=None
        What `factors_for` was given.

    Returns
    -------
    Solution
        With an `expansion`; `dual_coef` proves the gap. The last entry of `history` has the gap on
        the factors beside it ("on_factors").
    """
    approximation = None
    if factors.approximated:
        on_landmarks, history = landmark_search.search(factors, weight_set, loss, tol, max_iter)
        found = on_landmarks.found
        approximation = replace(on_landmarks.approximation, asked=landmarks)
    else:
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
        expansion=factors.on_nodes(found.expansion),
        approximation=approximation,
    )
