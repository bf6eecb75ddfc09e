"""What the points of a search for a radius-margin optimum prove together.

The value sought is a minimum over v >= 0 with R^2(v) <= 1. Each dual point of the machine bounds it
by a function linear in v, and each ball the set of v:

    J(v) >= c_j - v'q_j  for every dual point j,      r_k'v <= 1  for every ball k.

One pair alone proves c - max_m q_m / r_m. That is nothing where the ball of some weights has all
its samples in places that a kernel does not tell apart: r_m = 0, and equal samples make such balls
common. Mixtures of what has been seen prove more. With shares lam and mu >= 0,

    maximise  c'lam - 1'mu   subject to  sum_j lam_j q_j <= sum_k mu_k r_k,   1'lam = 1,

a linear programme; its multipliers are the v at which all the bounds are lowest. As q is convex in
the dual point and r concave in beta, the mixture of the points and that of the balls prove no less
as one pair, which is certified like any other.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]

# The last points of a search, which are the nearest to its end.
_MOST = 500
# Shares of the ball with all samples alike in mixtures, beyond what the programme says: its
# tolerance would else show where another ball tells nothing apart.
_ALIKE = (0.0, 1e-6, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True)
class _Pair:
    """A dual point (n,), its c and q (M,), and the shares beta (n,) and r (M,) of a ball."""

    point: Array
    linear: float
    forms: Array
    shares: Array
    radii: Array


@dataclass(frozen=True)
class Together:
    """What points and balls prove together.

    Attributes
    ----------
    point : ndarray of shape (n,)
        A mixture of dual points.
    shares : tuple of ndarray of shape (n,)
        beta, of which one proves the most with it.
    weights : ndarray of shape (M,)
        The v, in units of the kernels, at which the bounds are lowest.
    """

    point: Array
    shares: tuple[Array, ...]
    weights: Array


class Seen:
    """The points and balls that a search has come across.

    Parameters
    ----------
    units : ndarray of shape (M,)
        Weights of the kernels at which the ball with all samples alike has r = 1, or 0.
    """

    def __init__(self, units: Array) -> None:
        self._units = units
        self._pairs: deque[_Pair] = deque(maxlen=_MOST)

    def note(self, point: Array, linear: float, forms: Array, shares: Array, radii: Array) -> None:
        """Note a dual point and a ball.

        Parameters
        ----------
        point : ndarray of shape (n,)
            The dual point, of a convex set.
        linear : float
            c.
        forms : ndarray of shape (M,)
            q >= 0.
        shares : ndarray of shape (n,)
            beta of the ball.
        radii : ndarray of shape (M,)
            r(beta).
        """
        self._pairs.append(_Pair(point, linear, forms, shares, radii))

    def together(self) -> Together | None:
        """Return what all of them prove; None if the programme cannot be solved."""
        pairs = list(self._pairs)
        linear = np.array([pair.linear for pair in pairs])
        forms = np.array([pair.forms for pair in pairs]) * self._units
        radii = np.array([*(pair.radii * self._units for pair in pairs), self._units > 0])
        unit = float(np.abs(linear).max()) or 1.0
        found = linprog(
            np.concatenate([-linear / unit, np.ones(len(radii))]),
            A_ub=np.hstack([forms.T / unit, -radii.T]),
            b_ub=np.zeros(len(self._units)),
            A_eq=np.concatenate([np.ones(len(pairs)), np.zeros(len(radii))])[None, :],
            b_eq=np.ones(1),
            bounds=(0.0, None),
        )
        if found.x is None:
            return None
        lam, mu = np.maximum(found.x[: len(pairs)], 0.0), np.maximum(found.x[len(pairs) :], 0.0)
        if not (lam.any() and mu.any()):
            return None
        n = len(pairs[0].shares)
        betas = np.array([*(pair.shares for pair in pairs), np.full(n, 1.0 / n)])
        point = (lam / lam.sum()) @ np.array([pair.point for pair in pairs])
        beta = (mu / mu.sum()) @ betas
        mixed = tuple((1.0 - share) * beta + share / n for share in _ALIKE)
        return Together(point, mixed, -found.ineqlin.marginals)
