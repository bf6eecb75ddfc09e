"""The search for the kernel weights of a problem that is measured in units of the radius.

L-BFGS-B comes first (`mklbench.optim.radius.minimise`), which each point tells its own bounds.
Where it has not closed the gap soon, all of its points prove more together
(`mklbench.optim.radius`), and the weights at which these bounds are lowest lead to the next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from mklbench import iterations
from mklbench.certify import Bounds
from mklbench.kernels.base import Bank
from mklbench.optim import radius
from mklbench.optim.radius import Seen

Array = NDArray[np.float64]
At = TypeVar("At")

# The evaluations of L-BFGS-B. What needs more has a kink, where it goes on for hundreds in vain.
_FIRST = 30


@dataclass(frozen=True)
class Candidate(Generic[At]):
    """A point of a search.

    Attributes
    ----------
    u : ndarray of shape (M,)
        The weights in units of the kernels.
    weights : ndarray of shape (M,)
        v, at which the ball has the radius 1.
    at : object
        What the algorithm knows of it.
    bounds : Bounds
        On the optimum.
    """

    u: Array
    weights: Array
    at: At
    bounds: Bounds


class RadiusSearch(ABC, Generic[At]):
    """A function of the weights u = d / `radius.units`, which does not depend on their scale.

    Parameters
    ----------
    bank : Bank
        The M base kernels on n training samples.
    tol : float
        The certified relative gap asked for.

    Attributes
    ----------
    radius : Radius
        That of the bank.
    best : Candidate or None
        The point with the smallest gap so far.
    history : list of dict
        An entry an evaluation.
    """

    def __init__(self, bank: Bank, tol: float) -> None:
        self.radius, self.tol = radius.Radius(bank), tol
        self.seen = Seen(self.radius.units)
        self.best: Candidate[At] | None = None
        self.history = iterations.begin()
        self._lowest: Candidate[At] | None = None

    @property
    def gap(self) -> float:
        """The smallest gap so far."""
        return np.inf if self.best is None else self.best.bounds.relative_gap

    @abstractmethod
    def evaluated(self, u: Array) -> tuple[Candidate[At], float, Array]:
        """Return the point at u (M,), the value there and its gradient (M,), and note the point."""

    @abstractmethod
    def bounded(self, lowest: Candidate[At], point: Array, radii: Array) -> Bounds:
        """Return the bounds by a candidate, a dual point (n,) and r (M,) of a ball."""

    def tighten(self) -> bool:
        """Make evaluations more accurate; return False where that is not possible."""
        return True

    def run(self, n_searches: int, max_iter: int) -> Candidate[At]:
        """Return the best point.

        Parameters
        ----------
        n_searches : int
            The search is begun anew from its best point where it ends early, so often at most.
        max_iter : int
            Maximum number of evaluations.
        """
        first = min(_FIRST, max_iter)
        for _ in range(n_searches):
            left = first - len(self.history)
            if left <= 0 or self.gap <= self.tol:
                break
            radius.minimise(self, self._start(), left)
            if not self.tighten():
                break
        if self.gap > self.tol:
            self._close_together(max_iter)
        assert self.best is not None
        return self.best

    def __call__(self, u: Array) -> tuple[float, Array]:
        """Return the value and its gradient at u (M,); the search ends where the gap is closed."""
        value, gradient = self._visit(u)
        if self.gap <= self.tol:
            radius.stop()
        return value, gradient

    def _visit(self, u: Array) -> tuple[float, Array]:
        here, value, gradient = self.evaluated(u)
        if self._lowest is None or here.bounds.upper < self._lowest.bounds.upper:
            self._lowest = here
        if here.bounds.relative_gap < self.gap:
            self.best = here
        return value, gradient

    def _start(self) -> Array:
        """Return where to begin: at equal shares, or at the best point so far."""
        if self.best is None:
            return (self.radius.units > 0).astype(float)
        return self.best.u / self.best.u.max()

    def _close_together(self, max_iter: int) -> None:
        """Certify the lowest point by what all points prove together, and add to these points.

        The next one is half way from there to where the bounds are lowest.
        """
        while (together := self.seen.together()) is not None:
            assert self._lowest is not None
            for beta in together.shares:
                bounds = self.bounded(self._lowest, together.point, self.radius.radii(beta))
                if bounds.relative_gap < self.gap:
                    self.best = replace(self._lowest, bounds=bounds)
            self.history[-1]["gap"] = self.gap
            if self.gap <= self.tol or len(self.history) >= max_iter:
                return
            units, weights = self.radius.units, self._lowest.weights
            here = np.divide(weights, units, out=np.zeros_like(units), where=units > 0)
            self._visit(0.5 * (here + together.weights))
