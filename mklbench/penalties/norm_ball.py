"""The sets of kernel weights of Cortes et al. 2009 (eq. 7 and 8), and the projection onto them."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from mklbench.penalties.base import Array, Penalty


@dataclass(frozen=True)
class NormBall(Penalty):
    """M = {mu >= 0, ||mu - mu_0|| <= radius}: a ball without the points that have a weight < 0.

    P(f, mu) is 1/2 sum_m ||f_m||^2 / mu_m, and with the dual norm ||.||_* (infinity for 1, 2 for 2)

        D(q) = 1/2 max over mu in M of mu'q = 1/2 ( mu_0'q + radius ||q||_* ).

    Attributes
    ----------
    centre : ndarray of shape (p,)
        mu_0 >= 0.
    radius : float
        The paper's Lambda >= 0.
    norm : int
        1 or 2, which norm it is.
    """

    centre: Array
    radius: float
    norm: int

    def dual_value(self, forms: Array) -> float:
        """Return 1/2 ( mu_0'q + radius ||q||_* )."""
        slopes = np.maximum(forms, 0.0)  # rounding
        dual_norm = {1: math.inf, 2: 2}[self.norm]
        steepest = float(np.linalg.norm(slopes, dual_norm))
        return 0.5 * (float(slopes @ self.centre) + self.radius * steepest)

    def distance(self, weights: Array) -> float:
        """Return ||weights - mu_0||."""
        return float(np.linalg.norm(weights - self.centre, self.norm))

    def even(self) -> Array:
        """Return the point of the boundary where all weights exceed those of mu_0 by the same."""
        moved = self.centre + 1.0
        return self.centre + self.radius / self.distance(moved) * (moved - self.centre)

    def project(self, weights: Array) -> Array:
        """Return the point of M nearest to `weights` (p,) in the Euclidean distance.

        With w = weights - mu_0, the KKT conditions make it max(0, mu_0 + s w) for norm 2, with one
        factor s <= 1, and max(0, mu_0 + sign(w) max(0, |w| - t)) for norm 1, with one threshold
        t >= 0, such that its distance from mu_0 is the radius. Entries of w are cut off, or let go,
        at known values of s and t only. Between two of these the distance (norm 1) is linear in t,
        or its square (norm 2) in s^2, which leaves a line to be cut at the radius.
        """
        nonnegative = np.maximum(weights, 0.0)
        if self.distance(nonnegative) <= self.radius:
            return nonnegative
        w = weights - self.centre
        cut = weights < 0.0
        if self.norm == 1:
            kinks = np.unique(np.concatenate([[0.0], np.abs(w), -weights[cut]]))
        else:
            squares = np.square(self.centre[cut] / w[cut])
            kinks = np.unique(np.concatenate([[0.0, 1.0], squares]))[::-1]
        end = bisect_left(
            kinks, True, key=lambda kink: self.distance(self._drawn_in(w, kink)) <= self.radius
        )
        far, near = (self._drawn_in(w, kinks[i]) for i in (end - 1, end))
        high, low = (self.distance(point) ** self.norm for point in (far, near))
        share = (self.radius**self.norm - low) / (high - low)
        if self.norm == 1:
            return near + share * (far - near)
        return self._drawn_in(w, kinks[end] + share * (kinks[end - 1] - kinks[end]))

    def _drawn_in(self, w: Array, amount: float) -> Array:
        """Return max(0, mu_0 + w) with w drawn in: by the threshold t, or the square of s."""
        if self.norm == 1:
            drawn_in = np.sign(w) * np.maximum(np.abs(w) - amount, 0.0)
        else:
            drawn_in = np.sqrt(amount) * w
        return np.maximum(self.centre + drawn_in, 0.0)
