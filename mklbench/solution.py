"""What every algorithm returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import NotFiniteError


class Mixture(NamedTuple):
    """A combination of members of a family.

    Parameters
    ----------
    weights : ndarray of shape (k,)
        Kernel weights.
    thetas : ndarray of shape (k, M)
        Parameters of the kernels, one row a kernel.
    """

    weights: NDArray[np.float64]
    thetas: NDArray[np.float64]


@dataclass(frozen=True)
class KernelMachine:
    """What a decision function is made of, ``f(z) = sum_i dual_coef[i] k(x_i, z) + intercept``.

    Parameters
    ----------
    weights : ndarray of shape (M,)
        Those of the kernels in k.
    dual_coef : ndarray of shape (n,)
        a: alpha_i * y_i of an SVM.
    intercept : float
        b.
    """

    weights: NDArray[np.float64]
    dual_coef: NDArray[np.float64]
    intercept: float


@dataclass(frozen=True)
class Solution(KernelMachine):
    """One trained binary kernel machine with its learned kernel weights.

    The decision function is ``f(z) = sum_i dual_coef[i] k(x_i, z) + intercept`` with k the kernel
    at `weights`: that of a bank or a family, or sum_k weights_k K_thetas_k where there are
    `thetas`.

    Parameters
    ----------
    weights : ndarray of shape (M,)
        Kernel weights of a bank, or the parameters theta of the one kernel that is
        learned in a family, or the weights (k,) of the kernels `thetas`.
    dual_coef : ndarray of shape (n,)
        alpha_i * y_i, with 0 <= alpha_i <= C; of a ridge regression alpha.
    intercept : float
        b.
    objective : float
        The paper's objective at the returned weights (its scaling is in each `solve`).
    gap : float
        Certified relative duality gap (convex problems) or KKT residual (the others), computed
        by `mklbench.certify` from the returned numbers alone. The duality gap is (upper - lower) /
        upper, where `lower` is the dual value that `dual_coef` proves to be a lower bound on the
        optimum, and `upper` the primal value at `weights`, `dual_coef` and `intercept`, or the
        `objective` where that is larger. So (objective - optimum) / objective <= gap, always. Of
        several stages or members it is the largest gap of one. Where C is so large that rounding
        decides the loss, the primal value is that of the decision function divided by its smallest
        margin, which predicts the same labels (`mklbench.certify.bounds`).
    n_svm_calls : int
        Number of SVM problems solved.
    n_iter : int
        Outer iterations.
    converged : bool
        Whether a stopping rule that was asked for was met, rather than an iteration limit:
        `gap`, and `family_gap` where there is one, is at most `tol`, or where `objective_tol` is
        given, an iteration has changed the objective by less than that share of it. The second says
        nothing about the distance to the optimum; `gap` does. What an algorithm without these two
        ends by is in its `solve`.
    history : list of dict of str to float, default=[]
        One entry an outer iteration, with at least "objective" and "n_svm_calls".
    svm_seconds : float, default=0.0
        Wall-clock seconds spent inside LIBSVM's ``svm_train``.
    thetas : ndarray of shape (k, D) or None, default=None
        The kernels of a family that an algorithm has found, one row a kernel, in the
        order of `weights`, which are then (k,); None for banks and for one kernel of a family.
    degree : int, default=1
        d, where the kernel is that at `weights` to the power d, entry by entry.
    members : tuple of Solution or None, default=None
        The machines of an ensemble, each a solution on the same operator; None for a single
        machine. The decision function of an ensemble is the mean of theirs, or what they vote; its
        own `weights`, `dual_coef` and `intercept` are the means of theirs.
    gates : tuple of Solution or None, default=None
        Machines, one a member, that weight the members sample by sample, as in localized MKL: the
        decision function is sum_m eta_m(z) f_m(z) + b, eta(z) the softmax of the gates' values and
        b the `intercept` of the ensemble. None where all members count alike.
    vote : bool, default=False
        Whether the members of an ensemble vote: the decision value is the mean of the signs of
        theirs, ties broken by their mean.
    expansion : ndarray of shape (R,) or None, default=None
        Of a method on factors: the decision function is sum_c expansion_c k(z, c) + b over the
        nodes c of the kernels (`mklbench.kernels.row_factors`), the primal point that the gap
        holds for, and `dual_coef` the point of the dual that proves it. None where `dual_coef`
        makes the decision function.
    family_gap : float or None, default=None
        Of infinite kernel learning in a family: the relative duality gap with the kernels that an
        independent search has found beyond those of `gap`, at least as large as `gap`. It says what
        that search could tell, and no more: over the family nothing is certain. None where no such
        search was made, and for all other algorithms.
    model : callable or None, default=None
        Of a method without kernels: the decision function itself, from new samples (n_z, d) to
        values (n_z,). `dual_coef` is then 0.

    Raises
    ------
    NotFiniteError
        If a value is NaN or infinite.
    """

    objective: float
    gap: float
    n_svm_calls: int
    n_iter: int
    converged: bool
    history: list[dict[str, float]] = field(default_factory=list)
    svm_seconds: float = 0.0
    thetas: NDArray[np.float64] | None = None
    degree: int = 1
    members: tuple[Solution, ...] | None = None
    gates: tuple[Solution, ...] | None = None
    vote: bool = False
    expansion: NDArray[np.float64] | None = None
    family_gap: float | None = None
    model: Callable[[Any], NDArray[np.float64]] | None = None

    @property
    def is_on_samples(self) -> bool:
        """Whether it looks at new samples themselves, not at the kernel at `weights` alone."""
        return any(found is not None for found in (self.thetas, self.expansion, self.model))

    def with_parts(self, change: Callable[[Solution], Solution]) -> Solution:
        """Return it with its members and gates changed, where it has any.

        Parameters
        ----------
        change : callable
            Returns what takes the place of a member or a gate.
        """
        parts: dict[str, Any] = {
            name: tuple(map(change, found))
            for name in ("members", "gates")
            if (found := getattr(self, name)) is not None
        }
        return replace(self, **parts)

    def __post_init__(self) -> None:
        for item in fields(self):
            name, value = item.name, getattr(self, item.name)
            if isinstance(value, float | np.ndarray) and not np.isfinite(value).all():
                which = np.asarray(value)[~np.isfinite(value)].flat[0]
                raise NotFiniteError(
                    f"the solution has {name}={which:g}, so it is none: the kernels or a "
                    "hyperparameter are beyond the range of double precision, rescale them."
                )
