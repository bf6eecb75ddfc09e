"""MKL on factors: weights, alpha and intercept together, by one interior-point method.

With K_m = B S_m B' (`mklbench.kernels.row_factors`) the problem of SimpleMKL is the saddle point

    min over d >= 0, 1'd = 1,  max over 0 <= alpha <= C, y'alpha = 0  of
    1'alpha - 1/2 sum_m d_m q_m,    q_m = t' S_m t,    t = B' Y alpha,    Y = diag(y).

With multipliers l, u (n,) of the bounds on alpha, z (M,) of d >= 0, b of y'alpha = 0 and lam of
1'd = 1, the central path at mu > 0 is

    Y (B S_d t + b) - 1 - l + u = 0,    l o alpha = mu,    u o (C - alpha) = mu,    y'alpha = 0,
    lam - q_m / 2 - z_m = 0,            z o d = mu,        1'd = 1,

S_d = sum_m d_m S_m. There is no outer loop and no SVM: each iteration solves one linear system
(`mklbench.optim.joint_newton`), which needs B' Theta B and products of B with a few vectors of n
samples; all else is of the size of R, the columns of B, and of M.

The predictor and corrector are those of Mehrotra (1992). At a start t is far from what it is at the
optimum, as it sums over n samples: in T and in the prices stands v in its place, which begins at
that of a least-squares fit, and of which t - v shrinks with every step.

Bounds of the problem on the factors come with each iteration; the certificate of the problem on the
kernels themselves is made outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, block_diag

from mklbench.kernels.row_factors import RowFactors
from mklbench.optim.joint_newton import NewtonSystem, root
from mklbench.optim.row_blocks import Linearised, Variables
from mklbench.optim.row_engines import Engine, OfSamples

Array = NDArray[np.float64]

# Samples of the least squares that the method starts from, and their ridge.
_SAMPLED = 3000
_RIDGE_OF_INTERCEPT = 1e-8
# Of a step to the nearest bound.
_SHARE = 0.995
# Products in single precision are wrong by this share of their trace, which may be so large.
_SINGLE, _LARGEST_ERROR = 6e-8, 0.05
# The start is on the central path at this times the mean primal value of a sample.
_START = 2.0


@dataclass(frozen=True)
class Iterate:
    """A point near the central path, as far as it is no longer than the factors are wide.

    Attributes
    ----------
    weights : ndarray of shape (M,)
        d > 0.
    intercept : float
        b.
    expansion : ndarray of shape (R,)
        v; the function is B S_d v + b.
    upper, lower : float
        Bounds on the optimum of the problem on the factors, the second up to y'alpha.
    """

    weights: Array
    intercept: float
    expansion: Array
    upper: float
    lower: float

    @property
    def gap(self) -> float:
        """(upper - lower) / upper."""
        return (self.upper - self.lower) / abs(self.upper)


@dataclass(frozen=True)
class Point:
    """All variables, to go on from with other factors.

    Attributes
    ----------
    of_samples : Variables
        alpha, l and u.
    weights, prices : ndarray of shape (M,)
        d and z.
    expansion : ndarray of shape (q,)
        v, in the bases before these were reduced.
    intercept, largest : float
        b and lam.
    """

    of_samples: Variables
    weights: Array
    prices: Array
    expansion: Array
    intercept: float
    largest: float


class Path:
    """The way along the central path on some factors.

    The variables of n samples are with the blocks of an engine; the others are here. v (R,) is t =
    B'Y alpha at the optimum, and not before: its difference from t shrinks with every step.

    Attributes
    ----------
    factors : RowFactors
        The kernels.
    engine : Engine
        The samples.
    """

    def __init__(
        self,
        factors: RowFactors,
        engine: Engine,
        t: Array,
        v: Array,
        weights: Array,
        prices: Array,
        intercept: float,
        largest: float,
    ) -> None:
        self.factors, self.engine = factors, engine
        self.t, self.v, self.d, self.z = t, v, weights, prices
        self.b, self.lam = intercept, largest

    @classmethod
    def begin(cls, factors: RowFactors, engine: Engine) -> Path:
        """Set out from least squares on some of the samples, at uniform weights.

        Parameters
        ----------
        factors : RowFactors
            The kernels on n samples.
        engine : Engine
            The same samples in blocks.
        """
        n = factors.n_samples
        weights = np.full(factors.n_kernels, 1.0 / factors.n_kernels)
        chosen = np.arange(n) % max(1, n // _SAMPLED) == 0
        parts = engine.each("sampled", OfSamples((chosen,)))
        B = np.concatenate([rows for rows, _, _ in parts]).astype(np.float64)
        y, box = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        L = block_diag(*(root(core) for core in factors.combined(weights)))
        features = np.column_stack([B @ L, np.ones(len(B))])
        ridge = np.diag(np.append(np.ones(features.shape[1] - 1), _RIDGE_OF_INTERCEPT))
        inner = features.T @ (box[:, None] * features) + ridge
        w = np.linalg.solve(inner, features.T @ (box * y))
        x, b = L @ w[:-1], float(w[-1])
        primal = 0.5 * float(w[:-1] @ w[:-1])
        primal += engine.total("loss", x, b)
        mu = _START * primal / n
        t = engine.total("begin", x, b, mu)
        v = B.T @ (box * (y - B @ x - b))
        halves = 0.5 * factors.forms(v)
        largest = float(halves.max()) + mu * len(weights)
        return cls(factors, engine, t, v, weights, largest - halves, b, largest)

    @classmethod
    def resume(cls, factors: RowFactors, engine: Engine, point: Point) -> Path:
        """Set out from where another path has come to.

        Parameters
        ----------
        factors : RowFactors
            Of the same kernels on the same samples.
        engine : Engine
            These samples in blocks.
        point : Point
            Where to set out from.
        """
        t = engine.total("resume", OfSamples(point.of_samples))
        return cls(
            factors,
            engine,
            t,
            factors.lowered(point.expansion),
            point.weights,
            point.prices,
            point.intercept,
            point.largest,
        )

    def point(self) -> Point:
        """Return where the path has come to."""
        return Point(
            self._variables(),
            self.d,
            self.z,
            self.factors.lifted(self.v),
            self.b,
            self.lam,
        )

    def alpha(self) -> Array:
        """Return alpha (n,)."""
        return np.concatenate(self.engine.each("alpha"))

    def _variables(self) -> Variables:
        parts = self.engine.each("variables")
        return Variables(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def iterates(self, max_iter: int) -> Iterator[Iterate]:
        """Yield one point after the other, until no direction can be found.

        Parameters
        ----------
        max_iter : int
            At most so many points.
        """
        double = False
        for _ in range(max_iter):
            at = self._linearised(double)
            if not double and self._roundoff(at) > _LARGEST_ERROR:
                double, at = True, self._linearised(True)
            yield self._iterate(at)
            try:
                self._step(at)
            except LinAlgError:
                return

    def _linearised(self, double: bool) -> Linearised:
        x = self.factors.expanded(self.d, self.t)
        return self.engine.total("linearise", x, self.b, double)

    def _iterate(self, at: Linearised) -> Iterate:
        forms = self.factors.forms(self.t)
        upper = 0.5 * float(self.d @ forms) + at.hinge
        return Iterate(self.d, self.b, self.v, upper, at.alpha - 0.5 * float(forms.max()))

    def _roundoff(self, at: Linearised) -> float:
        """Return the error of L' H L in single precision, about."""
        traces = (
            np.sum(core * at.products[columns, columns])
            for core, columns in zip(
                self.factors.combined(self.d), self.factors.columns, strict=True
            )
        )
        return _SINGLE * float(sum(traces))

    def _step(self, at: Linearised) -> None:
        system = NewtonSystem(self.factors, at, self.d, self.z, self.v)
        n_pairs = 2 * self.factors.n_samples + len(self.d)
        mu = (at.complementarity + float(self.z @ self.d)) / n_pairs
        # The predictor, towards mu = 0.
        ahead_v = self.t - self.v
        residual = (
            0.5 * self.factors.forms(self.v) + self.z - self.lam + system.prices_along(ahead_v)
        )
        first = system.solve(at.projected, at.labelled, residual - self.z)
        second = self.engine.total("predict", first.outputs, first.intercept)
        dz = -self.z - self.z * first.weights / self.d
        longest = min(
            1.0, second.longest.value, _longest(self.d, first.weights), _longest(self.z, dz)
        )
        ahead = (
            at.complementarity
            + float(self.z @ self.d)
            + longest * (second.first + float(self.z @ first.weights + self.d @ dz))
            + longest**2 * (second.second + float(first.weights @ dz))
        ) / n_pairs
        target = (max(ahead, 0.0) / mu) ** 3 * mu
        # The corrector.
        price = residual - self.z + (target - first.weights * dz) / self.d
        final = system.solve(
            at.projected + second.projected + target * second.centred,
            at.labelled + second.labelled + target * second.labelled_centred,
            price,
        )
        direction = self.engine.total("correct", final.outputs, final.intercept, target)
        dz = (target - first.weights * dz - self.z * final.weights) / self.d - self.z
        step = _SHARE * min(
            1.0 / _SHARE,
            direction.longest.value,
            _longest(self.d, final.weights),
            _longest(self.z, dz),
        )
        self.engine.each("advance", step)
        self.v = self.v + step * (ahead_v + direction.projected)
        self.t = self.t + step * direction.projected
        self.d = self.d + step * final.weights
        self.z = self.z + step * dz
        self.b += step * final.intercept
        self.lam += step * final.largest


def _longest(variables: Array, direction: Array) -> float:
    fastest = float((-direction / variables).max())
    return 1.0 / fastest if fastest > 0 else np.inf
