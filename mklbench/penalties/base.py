"""What a penalty is, and all that certificates and algorithms ask of one."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_NEWTON_STEPS = 60


class Penalty(ABC):
    """A convex price r(d) of kernel weights d >= 0, or a set: r is 0 on it, else infinite.

    Learning kernels is to minimise over weights d, functions f_m in the spaces of the M kernels,
    and an intercept b

        P(f, d) + loss(f_1 + ... + f_M + b),    P(f, d) = 1/2 sum_m ||f_m||^2 / d_m + r(d),

    and its dual is to maximise over a, with the quadratic forms q_m = a' K_m a,

        - loss*(-a) - D(q),    D(q) = max over d >= 0 of  1/2 d'q - r(d).

    At functions f_m = d_m K_m a, which have ||f_m|| = d_m sqrt(q_m), P is 1/2 d'q + r(d). For all
    f and q holds sum_m ||f_m|| sqrt(q_m) <= P(f, d) + D(q), the inequality of Fenchel.
    """

    def of_weights(self, weights: Array) -> float:
        """Return the price r(d) of `weights` d (M,), 0 on a set."""
        return 0.0

    def value(self, weights: Array, forms: Array) -> float:
        """Return P at the functions f_m = d_m K_m a, for a set 1/2 d'q.

        Parameters
        ----------
        weights : ndarray of shape (M,)
            d, on the set where the penalty is one.
        forms : ndarray of shape (M,)
            q_m = a' K_m a >= 0, up to rounding.
        """
        return 0.5 * float(weights @ forms)

    @abstractmethod
    def dual_value(self, forms: Array) -> float:
        """Return D, the conjugate of r at half of q (M,); of a set its support function there."""

    @abstractmethod
    def best_weights(self, lengths: Array) -> Array:
        """Return the d (M,) at which P is least for functions of these `lengths` ||f_m|| (M,)."""

    def shrink(self, forms: Array) -> float:
        """Return the largest s <= 1 at which D(s^2 q) is finite, so that s a is dual feasible."""
        return 1.0


def rise_above(centre: Array | float, force: Array) -> Array:
    """Return the w >= 0 with w (centre + w)^2 = force, entry by entry, for centre and force >= 0.

    The left side is convex and grows with w, so that Newton's method falls from an upper bound to
    the root and never beyond.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        w = np.fmin(np.cbrt(force), force / np.square(centre))
    for _ in range(_NEWTON_STEPS):
        slope = (centre + w) * (centre + 3.0 * w)
        excess = w * np.square(centre + w) - force
        lower = np.maximum(w - np.divide(excess, slope, out=np.zeros_like(w), where=slope > 0), 0.0)
        if not (lower < w).any():
            break
        w = np.minimum(w, lower)
    return w
