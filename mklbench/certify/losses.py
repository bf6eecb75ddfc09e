"""Losses of the values of a function at the training samples, and their duals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

Array = NDArray[np.float64]


class Loss(ABC):
    """A convex loss of the values f(x_i) + b of a function at the training samples."""

    @abstractmethod
    def value(self, decision: Array) -> float:
        """Return the loss at the values of a decision function.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            The values f(x_i) + b at the training samples.
        """

    @abstractmethod
    def dual_value(self, dual_coef: Array) -> float:
        """Return the least of loss(u) + a'u over u (n,), for a feasible a.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            a, such that the minimum is finite.
        """

    def margin(self, decision: Array) -> float:
        """Return an s > 0 such that `decision` / s has no loss; 0 where none is known.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            The values f(x_i) + b at the training samples.
        """
        return 0.0


@dataclass(frozen=True)
class Hinge(Loss):
    """That of the SVM, sum_i C_i max(0, 1 - y_i f(x_i)).

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels in {-1, +1}.
    box : float or array_like of shape (n,)
        The bound C on alpha, or one bound C_i a sample.
    """

    y: Array
    box: ArrayLike

    def value(self, decision: Array) -> float:
        """Return sum_i C_i max(0, 1 - y_i u_i).

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) + b at the training samples.
        """
        return hinge_loss(self.y * decision, self.box)

    def dual_value(self, dual_coef: Array) -> float:
        """Return sum alpha.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            alpha o y, with 0 <= alpha_i <= C_i.
        """
        return float(np.abs(dual_coef).sum())

    def margin(self, decision: Array) -> float:
        """Return the smallest margin y_i u_i, or 0 where one is not positive.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) + b at the training samples.
        """
        return max(float((self.y * decision).min()), 0.0)


@dataclass(frozen=True)
class Tube(Loss):
    """That of epsilon-SVR, C sum_i max(0, |y_i - f(x_i)| - epsilon).

    Its dual is the maximum over |a_i| <= C, sum a = 0 of a'y - epsilon sum |a| - 1/2 a' K a.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Targets.
    C : float or ndarray of shape (n,)
        The bound on |a|, > 0, or one C_i for each sample.
    epsilon : float
        Half the width of the tube without loss, in units of y, >= 0.
    """

    y: Array
    C: float | Array
    epsilon: float

    def value(self, decision: Array) -> float:
        """Return C sum_i max(0, |y_i - u_i| - epsilon).

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) + b at the training samples.
        """
        excess = np.maximum(0.0, np.abs(self.y - decision) - self.epsilon)
        return float(self.C @ excess) if np.ndim(self.C) else float(self.C) * float(excess.sum())

    def dual_value(self, dual_coef: Array) -> float:
        """Return a'y - epsilon sum |a|.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            a, with |a_i| <= C.
        """
        return float(dual_coef @ self.y) - self.epsilon * float(np.abs(dual_coef).sum())


@dataclass(frozen=True)
class Logistic(Loss):
    """That of logistic regression, sum_i C_i log(1 + exp(-y_i f(x_i))).

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels in {-1, +1}.
    box : ndarray of shape (n,)
        C_i, the bounds on alpha.
    """

    y: Array
    box: Array

    def value(self, decision: Array) -> float:
        """Return sum_i C_i log(1 + exp(-y_i u_i)).

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) + b at the training samples.
        """
        return float(self.box @ np.logaddexp(0.0, -self.y * decision))

    def dual_value(self, dual_coef: Array) -> float:
        """Return sum_i C_i H(alpha_i / C_i), H(t) = -t log t - (1 - t) log(1 - t).

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            alpha o y, with 0 <= alpha_i <= C_i.
        """
        share = np.abs(dual_coef) / self.box
        return float(self.box @ (entr(share) + entr(1.0 - share)))


@dataclass(frozen=True)
class OneClass(Loss):
    """That of the one-class SVM, sum_i box_i max(0, rho - f(x_i)) - total rho, b = -rho.

    Its dual is the maximum over 0 <= a_i <= box_i, sum a = total of -1/2 a' K a.

    Parameters
    ----------
    box : float or ndarray of shape (n,)
        The bound on a, > 0, or one for each sample.
    total : float
        The sum of a, > 0.
    rho : float
        The offset of the function.
    """

    box: float | Array
    total: float
    rho: float

    def value(self, decision: Array) -> float:
        """Return sum_i box_i max(0, -u_i) - total rho.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) - rho at the training samples.
        """
        outside = np.maximum(0.0, -decision)
        loss = self.box @ outside if np.ndim(self.box) else self.box * outside.sum()
        return float(loss) - self.total * self.rho

    def dual_value(self, dual_coef: Array) -> float:
        """Return 0, the least of the loss + a'f over f (n,) and rho.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            a, with 0 <= a_i <= box_i and the sum `total`.
        """
        return 0.0


@dataclass(frozen=True)
class Squares(Loss):
    """That of kernel ridge regression, 1/(2 lam) sum_i (y_i - f(x_i))^2.

    Cortes et al. 2009, eq. 5, have twice this problem: minimise ||f||^2 + 1/lam sum_i (y_i -
    f(x_i))^2, whose dual is the maximum over alpha of 2 alpha'y - alpha'(K + lam I) alpha.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Targets.
    lam : float or ndarray of shape (n,)
        The ridge lambda > 0, or one for each sample, lambda / w_i at its weight w_i.
    """

    y: Array
    lam: float | Array

    def value(self, decision: Array) -> float:
        """Return 1/(2 lam) sum_i (y_i - u_i)^2.

        Parameters
        ----------
        decision : ndarray of shape (n,)
            u, the values f(x_i) at the training samples.
        """
        squares = (self.y - decision) ** 2
        if np.ndim(self.lam):
            return 0.5 * float(np.sum(squares / self.lam))
        return 0.5 * float(np.sum(squares)) / float(self.lam)

    def dual_value(self, dual_coef: Array) -> float:
        """Return alpha'y - lam/2 alpha'alpha.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            alpha, any numbers.
        """
        if np.ndim(self.lam):
            return float(dual_coef @ self.y) - 0.5 * float(dual_coef @ (self.lam * dual_coef))
        return float(dual_coef @ self.y) - 0.5 * float(self.lam) * float(dual_coef @ dual_coef)


def hinge_loss(margins: Array, box: ArrayLike) -> float:
    """Return sum_i C_i max(0, 1 - y_i f(x_i)).

    Parameters
    ----------
    margins : ndarray of shape (n,)
        y_i f(x_i).
    box : float or array_like of shape (n,)
        The bound C on alpha, or one bound C_i a sample.
    """
    return float(np.sum(np.asarray(box) * np.maximum(0.0, 1.0 - margins)))
