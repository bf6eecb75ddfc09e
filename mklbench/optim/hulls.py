"""Convex hulls in the space of a kernel: how far two are apart, and the ball around one.

The closest points of the hulls of two classes are sum_i gamma_i phi(x_i) over either, with

    minimise  D(gamma) = a' K a,  a = y o gamma   over gamma >= 0,  sum of gamma over each class 1.

With alpha = s gamma this is the hard-margin SVM, max sum alpha - 1/2 alpha' Y K Y alpha, which has
its maximum over s at s = 2 / D. So LIBSVM solves it, with a box that no alpha reaches. LIBSVM keeps
kernel values in single precision; the support that it finds is therefore solved for once more in
double precision, sample by sample let in or out (an active-set method), which ends at rounding. An
interior-point method is there for what is left.

The smallest ball around samples has the centre sum_i beta_i phi(x_i) and the squared radius

    R^2 = max over beta >= 0, sum beta = 1  of  beta' diag(K) - beta' K beta.

With one more point o, <phi(x_i), o> = K_ii / 2 and <o, o> = c, the squared distance of o to the
hull is c - R^2: the same problem, at any c > R^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mklbench.certify import Bounds
from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank
from mklbench.libsvm import SVM
from mklbench.optim import interior_point
from mklbench.optim.interior_point import Programme
from mklbench.optim.svm_value import balanced

# Hulls that are closer, as a share of the mean squared length of a sample, count as meeting.
MEETING = 1e-10

_SVM_TOLERANCES = (1e-3, 1e-6)
# With a larger box LIBSVM takes seconds where classes overlap, on kernels of mean diagonal 1.
_LARGEST_BOX = 1e4
_ACTIVE_SET_ROUNDS = 30
# Of the interior-point method.
_PROGRAMME_TOL = 1e-12


@dataclass(frozen=True)
class ClosestPoints:
    """The closest points of the hulls of two classes, as they were found.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Labels in {-1, +1}.
    shares : ndarray of shape (n,)
        gamma >= 0, of either class with the sum 1.
    outputs : ndarray of shape (n,)
        K (y o gamma): the inner product of each sample with the vector between the points.
    """

    y: Array
    shares: Array
    outputs: Array

    @property
    def coefficients(self) -> Array:
        """y o gamma (n,)."""
        return self.y * self.shares

    @cached_property
    def squared_distance(self) -> float:
        """D at gamma, not below the smallest one."""
        return max(float(self.coefficients @ self.outputs), 0.0)

    @cached_property
    def bounds(self) -> Bounds:
        """D, and what it is at least.

        With w the vector between these points and w' that between any two of the hulls,
        ||w'|| ||w|| >= w'w >= min over the class +1 of K a  -  max over the class -1 of K a.
        """
        ahead = self.outputs[self.y > 0].min() - self.outputs[self.y < 0].max()
        upper = self.squared_distance
        lower = float(max(ahead, 0.0)) ** 2 / upper if upper > 0 else 0.0
        return Bounds(upper, min(lower, upper))


class Hulls:
    """The hulls of two classes, for one kernel after the other.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels in {-1, +1}, both present.
    tol : float
        Relative gap of D at which closest points are good enough.

    Attributes
    ----------
    calls : int
        Number of SVM problems solved.
    seconds : float
        Wall-clock seconds spent inside LIBSVM.
    """

    def __init__(self, y: Array, tol: float) -> None:
        self.y, self.tol = y, tol
        self.calls, self.seconds = 0, 0.0

    def closest(self, K: Array, floor: float = 0.0) -> ClosestPoints:
        """Return the closest points; where they cannot be had to `tol`, the best that were found.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            The Gram matrix, positive semidefinite.
        floor : float, default=0.0
            What D is known to be at least.
        """
        unit = float(K.diagonal().mean()) or 1.0
        box = 2.0 * unit / max(floor, MEETING * unit)
        scaled = K / unit
        best = _at(K, self.y, np.ones(len(self.y)))
        for tol in (*_SVM_TOLERANCES, None):
            if best.bounds.relative_gap <= self.tol or best.squared_distance <= MEETING * unit:
                break
            if tol is None:
                alpha: Array | None = _by_interior_point(scaled, self.y, box)
            else:
                alpha = self._by_libsvm(scaled, min(box, _LARGEST_BOX), tol)
            if alpha is None:
                continue
            found = [_at(K, self.y, shares) for shares in (alpha, _active_set(K, self.y, alpha))]
            best = min([best, *found], key=lambda at: (at.bounds.relative_gap, at.squared_distance))
        return best

    def ridged(
        self, K: Array, lam: float, name: str = "lam", may_meet: bool = False
    ) -> ClosestPoints:
        """Return the closest points with the ridge lam on the diagonal.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            The Gram matrix, positive semidefinite.
        lam : float
            >= 0.
        name : str, default="lam"
            What the option is called.
        may_meet : bool, default=False
            Whether the hulls may meet without a ridge.

        Raises
        ------
        InputError
            If there is no ridge, and the hulls meet though they may not.
        """
        system = K.copy()
        system[np.diag_indices_from(system)] += lam
        found = self.closest(system, lam * float(np.square(balanced(self.y)).sum()))
        meets = found.squared_distance <= MEETING * float(K.diagonal().mean())
        if lam == 0 and meets and not may_meet:
            raise InputError(
                f"{name}=0 asks for kernels that separate the classes, and these overlap: choose "
                f"{name} above 0, or narrower Gaussians."
            )
        return found

    def _by_libsvm(self, K: Array, box: float, tol: float) -> Array | None:
        """Return the alpha (n,) of the SVM with this box; None where one reaches it."""
        machine = SVM(self.y, box, tol=tol)
        alpha = np.abs(machine.solve(K).dual_coef)
        self.calls, self.seconds = self.calls + 1, self.seconds + machine.seconds
        return None if alpha.max() >= box else alpha


def unit_diagonals(bank: Bank) -> Array:
    """Return the weights (M,) at which each kernel has the mean diagonal 1, 0 for those of zeros.

    Raises
    ------
    InputError
        If all are zero.
    """
    means = np.maximum(bank.traces() / bank.n_samples, 0.0)
    if not means.any():
        raise InputError(
            f"all {bank.n_kernels} kernels have the trace 0: choose kernels that are not zero."
        )
    return np.divide(1.0, means, out=np.zeros_like(means), where=means > 0)


class EnclosingBall(Hulls):
    """The smallest ball around the samples, for one kernel after the other.

    Parameters
    ----------
    n : int
        Number of samples.
    tol : float
        Relative gap of the squared radius at which a ball is small enough.
    """

    def __init__(self, n: int, tol: float) -> None:
        # One half of the tolerance: the distance is at most four times as large as the radius.
        super().__init__(np.append(np.ones(n), -1.0), 0.25 * tol)
        self._extended = np.empty((n + 1, n + 1))

    def smallest(self, K: Array) -> tuple[Array, Bounds]:
        """Return the smallest ball; where it cannot be had to `tol`, the best that was found.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            The Gram matrix, positive semidefinite.

        Returns
        -------
        shares : ndarray of shape (n,)
            beta >= 0 with the sum 1: the centre is sum_i beta_i phi(x_i).
        bounds : Bounds
            The squared radius of the ball around this centre, and beta' diag(K) - beta' K beta,
            which that of no ball is below.
        """
        squares = K.diagonal()
        # R^2 <= max K_ii, so that the distance is not below that.
        apart = 2.0 * float(squares.max())
        self._extended[:-1, :-1] = K
        self._extended[-1, :-1] = self._extended[:-1, -1] = 0.5 * squares
        self._extended[-1, -1] = apart
        shares = self.closest(self._extended, 0.5 * apart).shares[:-1]
        outputs = K @ shares
        norm = float(shares @ outputs)
        lower = float(shares @ squares) - norm
        upper = float((squares - 2.0 * outputs).max()) + norm
        return shares, Bounds(max(upper, lower), max(lower, 0.0))


def _at(K: Array, y: Array, weights: Array) -> ClosestPoints:
    """Return the points at gamma proportional to weights >= 0, or in the middle of a class."""
    shares = np.empty(len(y))
    for side in (y > 0, y < 0):
        total = float(weights[side].sum())
        shares[side] = weights[side] / total if total > 0 else 1.0 / np.count_nonzero(side)
    return ClosestPoints(y, shares, K @ (y * shares))


def _active_set(K: Array, y: Array, start: Array) -> Array:
    """Return gamma (n,), up to a factor a class, by solving for the samples that have a share.

    Among the samples of a set, Q gamma = mu of the class, the sums over the classes are 1. Samples
    whose share would be negative leave the set; samples nearer to the other class than those of
    the set enter it. This need not end: then the start is as good.
    """
    active = start > 0
    positive = y > 0
    for _ in range(_ACTIVE_SET_ROUNDS):
        inside = np.flatnonzero(active)
        if not (positive[inside].any() and not positive[inside].all()):
            return start
        signs = y[inside]
        sides = np.array([signs > 0, signs < 0], dtype=float)
        system = np.block(
            [
                [K[np.ix_(inside, inside)] * np.outer(signs, signs), sides.T],
                [sides, np.zeros((2, 2))],
            ]
        )
        try:
            solved = np.linalg.solve(system, np.append(np.zeros(len(inside)), np.ones(2)))
        except np.linalg.LinAlgError:
            return start
        levels = -solved[-2:]
        shares = np.zeros(len(y))
        shares[inside] = solved[:-2]
        leaving = shares < 0
        if leaving.any():
            active &= ~leaving
            continue
        short = y * (K @ (y * shares)) - np.where(positive, levels[0], levels[1])
        entering = ~active & (short < -1e-12 * abs(levels).max())
        if not entering.any():
            return shares
        active |= entering
    return start


def _by_interior_point(K: Array, y: Array, box: float) -> Array:
    """Return the alpha (n,) of the SVM with this box."""
    n = len(y)
    programme = Programme(
        Q=K * np.outer(y, y), X=np.zeros((n, 1)), p=np.ones(n), y=y, upper=np.full(n, box),
        offset=np.ones(1), balance=0.0,
    )  # fmt: skip
    unit = min(1.0, 0.5 * box)
    start = interior_point.interior(programme, np.full(n, unit), np.ones(1), 0.0, unit)
    return np.maximum(interior_point.maximise(programme, start, _PROGRAMME_TOL).alpha, 0.0)
