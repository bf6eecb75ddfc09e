"""What a penalty is, and all that certificates and algorithms ask of one."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
        """Return P at the functions f_m = d_m K_m a, 1/2 d'q + r(d).

        Parameters
        ----------
        weights : ndarray of shape (M,)
            d, on the set where the penalty is one.
        forms : ndarray of shape (M,)
            q_m = a' K_m a >= 0, up to rounding.
        """
        return 0.5 * float(weights @ forms) + self.of_weights(weights)

    @abstractmethod
    def dual_value(self, forms: Array) -> float:
        """Return D, the conjugate of r at half of q (M,); of a set its support function there."""

    def shrink(self, forms: Array) -> float:
        """Return the largest s <= 1 at which D(s^2 q) is finite, so that s a is dual feasible."""
        return 1.0
