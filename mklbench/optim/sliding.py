"""Kernels in use slide: the parameters of all of them descend together, at their weights.

Column generation only ever adds kernels. Where an optimal kernel lies between two that were found,
or beside one, each round brings another one near it, and many rounds go by until their weights
stand for it. It is quicker to move the kernels themselves, after every master (alternating descent
conditional gradient, Boyd, Schiebinger & Recht, SIAM J. Optim. 27, 2017, algorithm 1; the sliding
Frank-Wolfe method, Denoyelle, Duval, Peyre & Soubies, Inverse Problems 36, 2020). With alpha the
solution of the SVM at the weights d and the kernels K_k = K_theta_k, and a = alpha o y, the value

    J(theta_1, ..., theta_K) = sum_i alpha_i - 1/2 sum_k d_k a' K_k a

has the gradient -d_k dT(theta_k; alpha) by Danskin's theorem, T = 1/2 a' K_theta a: a descent
takes one SVM, and one matrix for each kernel, an evaluation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize

from mklbench.kernels.continuous import Family
from mklbench.libsvm import SVM
from mklbench.optim.kernel_search import is_new
from mklbench.solution import Mixture

Array = NDArray[np.float64]

# LIBSVM's tolerance: J is off by less than the growth at which a descent ends.
_SVM_TOL = 1e-4
# Of Gram matrices that are kept between the SVM and the gradient.
_BYTES_KEPT = 2**28
# Parameters are seen in units in which the own curvature of each kernel is alike, as it grows with
# the weight; weights below this share of the largest count as this.
_LEAST_WEIGHT = 1e-6


def slide(family: Family, machine: SVM, known: Mixture, iterations: int, growth: float) -> Mixture:
    """Return kernels of the same weights whose J is no larger, each near where it was.

    Parameters
    ----------
    family : Family
        On the n samples of the machine.
    machine : SVM
        Of these samples; its buffer is overwritten.
    known : Mixture
        The kernels, all with weights > 0, in the box of the family.
    iterations : int
        Of L-BFGS-B, at most so many.
    growth : float
        The descent ends where an iteration lowers J by less than this share.
    """
    weights, shape = known.weights, known.thetas.shape
    shares = np.maximum(weights / weights.max(), _LEAST_WEIGHT)
    units = np.repeat(np.sqrt(shares)[:, None], shape[1], axis=1).ravel()
    lower, upper = (np.tile(end, shape[0]) for end in (family.lower, family.upper))
    value_at = _Value(family, machine, weights)
    lowest, best = np.inf, known.thetas
    unit = 1.0

    def descended(scaled: Array) -> tuple[float, Array]:
        nonlocal lowest, best, unit
        thetas = np.clip(scaled / units, lower, upper).reshape(shape)
        value, gradient = value_at(thetas)
        if not np.isfinite(lowest):
            unit = max(value, float(np.finfo(np.float32).tiny))
        if value < lowest:
            lowest, best = value, thetas
        return value / unit, gradient.ravel() / (units * unit)

    minimize(
        descended,
        known.thetas.ravel() * units,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(lower * units, upper * units),
        options={"maxiter": iterations, "maxfun": 2 * iterations, "ftol": growth},
    )
    return merged(Mixture(weights, best))


class _Value:
    """J and its gradient as a function of the parameters of all kernels."""

    def __init__(self, family: Family, machine: SVM, weights: Array) -> None:
        n = family.n_samples
        self._rough, self._machine = family.single_precision(), machine
        self._weights = weights.astype(np.float32)
        self._n_kept = min(len(weights), int(_BYTES_KEPT / (4.0 * n**2)))
        self._kept = np.empty((self._n_kept, n, n), dtype=np.float32)

    def __call__(self, thetas: Array) -> tuple[float, Array]:
        machine, n_kept = self._machine, self._n_kept
        for k, theta in enumerate(thetas[:n_kept]):
            self._kept[k] = self._rough.gram(theta)
        combined = np.tensordot(self._weights[:n_kept], self._kept, axes=1)
        for weight, theta in zip(self._weights[n_kept:], thetas[n_kept:], strict=True):
            combined += weight * self._rough.gram(theta)
        machine.gram[...] = combined
        solution = machine.solve(tol=_SVM_TOL)
        a = solution.dual_coef
        value, gradient = float(np.abs(a).sum()), np.empty_like(thetas)
        for k, (weight, theta) in enumerate(zip(self._weights, thetas, strict=True)):
            gram = self._kept[k] if k < n_kept else self._rough.gram(theta)
            form, slope = self._rough.quadratic_form(theta, a, gram)
            value -= 0.5 * float(weight) * form
            gradient[k] = -0.5 * float(weight) * slope
        return value, gradient


def merged(known: Mixture) -> Mixture:
    """Return the mixture with kernels that are the same (`is_new`) in one, of their weights' sum.

    The one of the largest weight stays as it is.
    """
    thetas: list[Array] = []
    weights: list[float] = []
    for k in np.argsort(-known.weights, kind="stable"):
        theta = known.thetas[k]
        if is_new(theta, thetas):
            thetas.append(theta)
            weights.append(float(known.weights[k]))
        else:
            weights[_place(theta, thetas)] += float(known.weights[k])
    return Mixture(np.array(weights), np.array(thetas))


def _place(theta: Array, others: list[Array]) -> int:
    """Return which of the `others` is the same kernel as `theta`."""
    return next(k for k, other in enumerate(others) if not is_new(theta, [other]))
