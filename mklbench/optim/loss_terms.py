"""The losses of the joint method as sums of hinges: one a sample of an SVM, two of an SVR.

    loss(f) = sum over k, i of  C_i max(0, r_ki - s_ki f(x_i)),   s_ki = -1 or +1.

The dual has a variable 0 <= alpha_ki <= C_i for each, is linear with the coefficients r_ki, and
a_i = sum_k s_ki alpha_ki are the coefficients of the function on the samples. An SVM has s = y and
r = 1; the tube of an SVR has s = 1, r = y - epsilon on one side, and s = -1, r = -(y + epsilon) on
the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklbench.certify import Hinge, Tube

Array = NDArray[np.float64]


class Terms(NamedTuple):
    """The hinges of n samples.

    Attributes
    ----------
    signs, targets : ndarray of shape (k, n)
        s and r, of k hinges a sample.
    box : ndarray of shape (n,)
        C_i > 0.
    """

    signs: Array
    targets: Array
    box: Array

    def of(self, rows: slice) -> Terms:
        """Return the hinges of some samples.

        Parameters
        ----------
        rows : slice
            The samples.
        """
        return Terms(self.signs[:, rows], self.targets[:, rows], self.box[rows])

    def middle(self) -> Array:
        """Return what f(x_i) is to be near (n,): labels, or targets of a regression."""
        return np.asarray((self.signs * self.targets).mean(axis=0))

    def loss(self, outputs: Array) -> float:
        """Return the loss of a function.

        Parameters
        ----------
        outputs : ndarray of shape (n,)
            f(x_i).
        """
        return float(np.maximum(0.0, self.targets - self.signs * outputs).sum(axis=0) @ self.box)

    def dual_coef(self, alpha: Array) -> Array:
        """Return a (n,).

        Parameters
        ----------
        alpha : ndarray of shape (k, n)
            The dual variables.
        """
        return np.asarray((self.signs * alpha).sum(axis=0))


def terms_of(loss: Hinge | Tube) -> Terms:
    """Return a loss of n samples as hinges.

    Parameters
    ----------
    loss : Hinge or Tube
        With labels or targets (n,), and C or one bound a sample.
    """
    if isinstance(loss, Hinge):
        box = np.broadcast_to(np.asarray(loss.box, dtype=np.float64), loss.y.shape)
        return Terms(loss.y[None], np.ones((1, len(loss.y))), box)
    box = np.broadcast_to(np.asarray(loss.C, dtype=np.float64), loss.y.shape)
    signs = np.repeat([[1.0], [-1.0]], len(loss.y), axis=1)
    return Terms(signs, signs * loss.y - loss.epsilon, box)


def every(loss: Hinge | Tube, step: int) -> Hinge | Tube:
    """Return the loss on every `step`-th sample, each of which stands for as many as there are.

    Parameters
    ----------
    loss : Hinge or Tube
        Of n samples.
    step : int
        1 or more.
    """
    y = loss.y[::step]
    box = terms_of(loss).box[::step] * (len(loss.y) / len(y))
    return Hinge(y, box) if isinstance(loss, Hinge) else Tube(y, box, loss.epsilon)
