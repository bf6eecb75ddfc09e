"""The subproblem of infinite kernel learning: members of a family that violate T(theta) <= lambda.

Gehler & Nowozin 2008, Problem 1: for given alpha and a = alpha o y, maximise over the box

    T(theta) = 1/2 a' K_theta a,        dT/dtheta = 1/2 d(a' K_theta a)/dtheta.

T is not concave, so the search is for local maxima, by L-BFGS-B with exact gradients from several
starts. Only samples with alpha_i != 0 count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize

from mklbench.kernels.continuous import Family, RoughFamily
from mklbench.solution import Mixture

Array = NDArray[np.float64]

# Iterations of one local search; the authors' Newton method has as many.
_ITERATIONS = 20
# It ends where T grows by less than this share: alpha will not stay, so more is not worth its time.
_LEAST_GROWTH = 1e-4
# Starts of a search: so many of the family's own, those with the largest T; so many of the kernels
# at hand, by turns; and so many of the local maxima that the search before found beyond those that
# joined. A thorough search has that many times as many of the first two.
_BEST_STARTS, _AT_HAND, _LEFT_OVER, _THOROUGH = 6, 6, 6, 3
# Random kernels have parameters over so many powers of ten, up to the end of the box.
DECADES = 4.0
# Kernels whose parameters differ by no more than this are one; where all are below 1, as of many
# features, by no more than this share of the largest.
_SAME = 1e-3


class Found(NamedTuple):
    """A member of the family and its price T (in single precision)."""

    price: float
    theta: Array


class KernelSearch:
    """Searches in one family, each of which may begin where the one before ended.

    Parameters
    ----------
    family : Family
        On the training samples, with a bounded box.
    samples : int, default=0
        Number of random members of the family among which a thorough search looks for starts.
    slid : bool, default=False
        Whether the kernels at hand have been moved to where they are best (`sliding`). Then only a
        thorough search climbs from them, and no start is priced before its climb.
    """

    def __init__(self, family: Family, samples: int = 0, slid: bool = False) -> None:
        self._slid = slid
        self._family = family
        self._samples = samples
        self._random = np.random.default_rng(0)
        self._box = Bounds(family.lower, family.upper)
        self._left: list[Array] = []
        self._turn = 0

    def run(self, dual_coef: Array, known: Mixture, thorough: bool) -> list[Found]:
        """Return local maxima of T, the largest first, no two of them the same.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            Alpha o y.
        known : Mixture
            The kernels at hand with their weights.
        thorough : bool
            Whether to begin at more of the family's starts and of the kernels at hand.
        """
        support = np.flatnonzero(dual_coef)
        family, a = self._family.take(support).rough(), dual_coef[support]
        more = _THOROUGH if thorough else 1
        own = self._family.starts()
        if thorough and self._samples:
            own = np.concatenate([own, self._sampled()])
        values = np.array([family.value(theta, a) for theta in own])
        best = np.argsort(-values, kind="stable")[: more * _BEST_STARTS]
        starts: list[tuple[Array, float | None]] = [(own[i], float(values[i])) for i in best]
        at_hand = 0 if self._slid and not thorough else more * _AT_HAND
        for theta in (*self._left, *self._at_hand(known, at_hand)):
            within = np.clip(theta, self._family.lower, self._family.upper)
            starts.append((within, None if self._slid else family.value(within, a)))
        return distinct(climb(family, self._box, a, *start) for start in starts)

    def keep(self, found: Iterable[Found]) -> None:
        """Remember local maxima, the best first, as starts for the next search."""
        self._left = [theta for _, theta in found][:_LEFT_OVER]

    def _at_hand(self, known: Mixture, count: int) -> list[Array]:
        weighted = known.thetas[known.weights > 0]
        turns = [(self._turn + i) % len(weighted) for i in range(min(count, len(weighted)))]
        self._turn += len(turns)
        return [weighted[turn] for turn in turns]

    def _sampled(self) -> Array:
        """Return random members (samples, M): any number of parameters is 0, or at the lower end.

        The others are drawn from a logarithmic scale, as widths of kernels are. Another sample is
        drawn each time.
        """
        shape = (self._samples, self._family.n_kernels)
        shares = 10.0 ** self._random.uniform(-DECADES, 0.0, shape)
        used = self._random.uniform(size=shape) < self._random.uniform(size=(self._samples, 1))
        return np.maximum(np.where(used, shares * self._family.upper, 0.0), self._family.lower)


def climb(
    family: RoughFamily,
    box: Bounds,
    a: Array,
    start: Array,
    price: float | None,
    growth: float = _LEAST_GROWTH,
    iterations: int = _ITERATIONS,
) -> Found:
    """Return the local maximum of T = a' K_theta a / 2 above `start`.

    Parameters
    ----------
    family : RoughFamily
        On the samples of `a`.
    box : Bounds
        Where to search.
    a : ndarray of shape (n,)
        Alpha o y.
    start : ndarray of shape (M,)
        Where to begin, within the box.
    price : float or None
        a' K_start a, the unit in which L-BFGS-B sees a' K_theta a; None where it is not known.
    growth : float, default=1e-4
        It ends where an iteration adds less than this share.
    iterations : int, default=20
        Maximum number of them.
    """
    known: tuple[float, Array] | None = None
    if price is None:
        known = family.quadratic_form(start, a, family.gram(start))
        price = known[0]
    unit = max(abs(price), float(np.finfo(np.float32).tiny))

    def descended(theta: Array) -> tuple[float, Array]:
        nonlocal known
        value, gradient = known or family.quadratic_form(theta, a, family.gram(theta))
        known = None  # L-BFGS-B begins where it starts
        return -value / unit, -gradient / unit

    result = minimize(
        descended,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=box,
        options={"maxiter": iterations, "ftol": growth},
    )
    return Found(-0.5 * unit * float(result.fun), result.x)


def is_new(theta: Array, known: Iterable[Array]) -> bool:
    """Tell whether no kernel in `known` has the parameters `theta`, to within 1e-3.

    Where all are below 1, it is 1e-3 of the largest.
    """
    return all(
        np.abs(theta - other).max() > _SAME * min(1.0, max(theta.max(), other.max()))
        for other in known
    )


def distinct(found: Iterable[Found]) -> list[Found]:
    """Return those with the largest price first, without any that repeats a larger one."""
    different: list[Found] = []
    for candidate in sorted(found, key=lambda each: -each.price):
        if is_new(candidate.theta, (other.theta for other in different)):
            different.append(candidate)
    return different
