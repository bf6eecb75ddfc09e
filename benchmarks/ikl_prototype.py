"""The yardstick of infinite kernel learning: column generation written plainly.

This is the method as one would write it down in an afternoon: dense Gram matrices of every kernel
found, all of them in every master, and a subproblem in which each evaluation takes all samples, in
double precision. With a = alpha o y and W = (a a') o K_theta,

    T(theta) = 1/2 a' K_theta a,    dT/dtheta_m = x_m' W x_m - (W 1)' (x_m o x_m).

Its rules are those seen in the authors' code (Gehler & Nowozin 2008): a kernel is accepted when T
exceeds lambda by 1e-2 and it is not within 1e-3 of a known one; a new one enters with weight 0 and
the others keep theirs; a local search has at most 20 iterations; it ends where none is accepted,
where the objective falls by less than 1e-5 of itself, or after 100 rounds. A round has eight of the
starts there: four isotropic ones, and four drawn from the kernels found so far, or from those on
single features where there are fewer. Every kernel that is accepted joins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mklbench.algorithms import mkl
from mklbench.kernels import PrecomputedBank, product_gaussians
from mklbench.solution import Solution

Array = NDArray[np.float64]

_ACCEPTED = 1e-2
_SAME = 1e-3
_ITERATIONS = 20
_LEAST_DECREASE = 1e-5
_N_SCALES, _N_DRAWN = 4, 4
_MASTER_TOLERANCE = 1e-5


class Subproblem:
    """T and its gradient for one alpha, on all samples."""

    def __init__(self, X: Array, a: Array) -> None:
        self._X, self._squares = X, X * X
        self._aa = np.outer(a, a)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Return T(theta) and its gradient (D,)."""
        W = self._aa * gram(self._X, theta)
        quadratic = (self._X * (W @ self._X)).sum(axis=0)
        return 0.5 * W.sum(), quadratic - W.sum(axis=1) @ self._squares

    def climb(self, start: Array, gamma_max: float) -> tuple[float, Array]:
        """Return the T and the theta of a local maximum in the box."""

        def descended(theta: Array) -> tuple[float, Array]:
            price, gradient = self(theta)
            return -price, -gradient

        found = minimize(
            descended,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, gamma_max)] * len(start),
            options={"maxiter": _ITERATIONS},
        )
        return -found.fun, found.x


def gram(X: Array, theta: Array) -> Array:
    """Return K_theta (n, n), exp(-sum_m theta_m (x_im - x_jm)^2)."""
    scaled = X * np.sqrt(theta)
    squares = (scaled * scaled).sum(axis=1)
    return np.exp(np.minimum(2.0 * scaled @ scaled.T - squares[:, None] - squares, 0.0))


def solve(
    X: Array, y: Array, C: float = 1.0, *, gamma_max: float = 30.0, max_iter: int = 100
) -> Solution:
    """Solve the problem of `mklbench.algorithms.ikl` on the products of Gaussians of `X` (n, D).

    The result is that of `ikl.solve`, but its gap is to the kernels that its own search found.
    """
    rng = np.random.default_rng(0)
    starts = product_gaussians(X, gamma_max=gamma_max).starts()
    scales, alone = starts[:_N_SCALES], starts[_N_SCALES:]
    known = [np.full(X.shape[1], 1.0 / X.shape[1])]
    bank = PrecomputedBank(gram(X, known[0])[None])
    weights = np.ones(1)
    calls, svm_seconds = 0, 0.0
    history: list[dict[str, float]] = []
    while True:
        start = np.pad(weights, (0, len(known) - len(weights)))
        master = mkl.solve(bank, y, C, tol=_MASTER_TOLERANCE, start=start)
        weights, a = master.weights, master.dual_coef
        calls, svm_seconds = calls + master.n_svm_calls, svm_seconds + master.svm_seconds
        multiplier = 0.5 * bank.quadratic_forms(a).max()
        subproblem = Subproblem(X, a)
        others = [*rng.permutation(known), *rng.permutation(alone)][:_N_DRAWN]
        found = [subproblem.climb(theta, gamma_max) for theta in [*scales, *others]]
        highest = max(multiplier, *(price for price, _ in found))
        gap = 1.0 - (np.abs(a).sum() - highest) / master.objective
        history.append(
            {
                "objective": master.objective,
                "gap": gap,
                "n_kernels": float(len(known)),
                "n_svm_calls": float(calls),
            }
        )
        before = len(known)
        for price, theta in found:
            if price - multiplier >= _ACCEPTED and _is_new(theta, known):
                known.append(theta)
        if len(known) > before:
            bank = PrecomputedBank(np.array([gram(X, theta) for theta in known]))
        stalled = (
            len(history) > 1
            and history[-2]["objective"] - master.objective < _LEAST_DECREASE * master.objective
        )
        if len(known) == before or stalled or len(history) == max_iter:
            break
    used = np.flatnonzero(weights)
    return Solution(
        weights[used], a, master.intercept, master.objective, gap, calls, len(history) - 1,
        len(history) < max_iter, history, svm_seconds, np.array(known)[used],
    )  # fmt: skip


def _is_new(theta: Array, known: list[Array]) -> bool:
    return all(np.abs(theta - other).max() > _SAME for other in known)
