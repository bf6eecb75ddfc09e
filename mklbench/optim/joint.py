"""MKL on factors: weights, alpha and intercept together, by one interior-point method.

With K_m = B S_m B' (`mklbench.kernels.row_factors`) the problem of SimpleMKL is the saddle point

    min over d >= 0, 1'd = 1,  max over 0 <= alpha <= C, y'alpha = 0  of
    1'alpha - 1/2 sum_m d_m q_m,    q_m = t' S_m t,    t = B' Y alpha,    Y = diag(y).

With multipliers l, u (n,) of the bounds on alpha, z (M,) of d >= 0, b of y'alpha = 0 and lam of
1'd = 1, the central path at mu > 0 is

    Y (B S_d t + b) - 1 - l + u = 0,    l o alpha = mu,    u o (C - alpha) = mu,    y'alpha = 0,
    lam - q_m / 2 - z_m = 0,            z o d = mu,        1'd = 1,

S_d = sum_m d_m S_m. There is no outer loop and no SVM. Newton's direction, with Theta = 1 / (l /
alpha + u / (C - alpha)), T = [S_1 t ... S_M t] and S_d = L L', needs B' Theta B and products of B
with a few vectors of n samples; all else is of the size of R, the columns of B, and of M:

    P = L (I + L' H L)^-1 L',    N = I - H P,    H = B' Theta B,    h = B' Theta 1,

    [ T'N H T + diag(z / d)    T'N h                1 ] [ change of d   ]
    [ (T'N h)'                 1'Theta 1 - h'P h    0 ] [ change of b   ]  =  right-hand side.
    [ 1'                       0                    0 ] [ change of lam ]

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
from scipy.linalg import LinAlgError, block_diag, cho_factor, cho_solve

from mklbench.kernels.row_factors import RowFactors
from mklbench.optim.row_blocks import Engine, Linearised, Variables, added

Array = NDArray[np.float64]

# Samples of the least squares that the method starts from, and their ridge.
_SAMPLED = 3000
_RIDGE_OF_INTERCEPT = 1e-8
# Of its trace, what makes a matrix positive definite that is so but for rounding.
_ROUNDING = 1e-14
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
        self.factors, self._engine = factors, engine
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
        step = max(1, n // _SAMPLED)
        parts = list(engine.each(lambda rows: rows.sampled(step)))
        B = np.concatenate([rows for rows, _, _ in parts]).astype(np.float64)
        y, box = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        L = block_diag(*(_root(core) for core in factors.combined(weights)))
        features = np.column_stack([B @ L, np.ones(len(B))])
        ridge = np.diag(np.append(np.ones(features.shape[1] - 1), _RIDGE_OF_INTERCEPT))
        inner = features.T @ (box[:, None] * features) + ridge
        w = np.linalg.solve(inner, features.T @ (box * y))
        x, b = L @ w[:-1], float(w[-1])
        primal = 0.5 * float(w[:-1] @ w[:-1])
        primal += sum(engine.each(lambda rows: rows.loss(x, b)))
        mu = _START * primal / n
        t = added(engine.each(lambda rows: rows.begin(x, b, mu)))
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
        t = added(engine.each(lambda rows: rows.resume(point.of_samples)))
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
        return self._variables().alpha

    def _variables(self) -> Variables:
        parts = self._engine.each(lambda rows: rows.variables())
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
        x, b = self.factors.expanded(self.d, self.t), self.b
        return added(self._engine.each(lambda rows: rows.linearise(x, b, double)))

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
        system = _Newton(self, at)
        n_pairs = 2 * self.factors.n_samples + len(self.d)
        mu = (at.complementarity + float(self.z @ self.d)) / n_pairs
        # The predictor, towards mu = 0.
        ahead_v = self.t - self.v
        residual = 0.5 * self.factors.forms(self.v) + self.z - self.lam + system._T.T @ ahead_v
        first = system.solve(at.projected, at.labelled, residual - self.z)
        second = added(self._engine.each(lambda rows: rows.predict(first.x, first.b)))
        dz = -self.z - self.z * first.d / self.d
        longest = min(1.0, second.longest.value, _longest(self.d, first.d), _longest(self.z, dz))
        ahead = (
            at.complementarity
            + float(self.z @ self.d)
            + longest * (second.first + float(self.z @ first.d + self.d @ dz))
            + longest**2 * (second.second + float(first.d @ dz))
        ) / n_pairs
        target = (max(ahead, 0.0) / mu) ** 3 * mu
        # The corrector.
        price = residual - self.z + (target - first.d * dz) / self.d
        final = system.solve(
            at.projected + second.projected + target * second.centred,
            at.labelled + second.labelled + target * second.labelled_centred,
            price,
        )
        direction = added(self._engine.each(lambda rows: rows.correct(final.x, final.b, target)))
        dz = (target - first.d * dz - self.z * final.d) / self.d - self.z
        step = _SHARE * min(
            1.0 / _SHARE,
            direction.longest.value,
            _longest(self.d, final.d),
            _longest(self.z, dz),
        )
        for _ in self._engine.each(lambda rows: rows.advance(step)):
            pass
        self.v = self.v + step * (ahead_v + direction.projected)
        self.t = self.t + step * direction.projected
        self.d = self.d + step * final.d
        self.z = self.z + step * dz
        self.b += step * final.b
        self.lam += step * final.lam


@dataclass
class _Step:
    d: Array
    b: float
    lam: float
    x: Array  # the direction of the outputs, without the intercept, is B x
    u: Array  # B' Y times the direction of alpha


class _Newton:
    """The linear system of a point, for several right-hand sides."""

    def __init__(self, state: Path, at: Linearised) -> None:
        factors = state.factors
        self._at, self._T = at, factors.products(state.v)
        roots = [_root(core) for core in factors.combined(state.d)]
        self._L = block_diag(*roots)
        H, T = at.products, self._T
        inner = self._L.T @ H @ self._L
        inner[np.diag_indices_from(inner)] += 1.0
        self._inner = _factorised(inner)
        self._HT = H @ T
        self._NHT, self._Nh = self._reduce(self._HT), self._reduce(at.column_sums)
        m = len(state.d)
        matrix = np.zeros((m + 2, m + 2))
        matrix[:m, :m] = T.T @ self._NHT + np.diag(state.z / state.d)
        matrix[:m, m] = matrix[m, :m] = T.T @ self._Nh
        matrix[m, m] = at.theta - float(at.column_sums @ self._within(at.column_sums))
        matrix[:m, m + 1] = matrix[m + 1, :m] = 1.0
        self._matrix = matrix
        self._sums = at.balance, 1.0 - float(state.d.sum())

    def solve(self, projected: Array, labelled: float, prices: Array) -> _Step:
        """Return the direction for B' Y Theta rho, y' Theta rho and the right side of prices."""
        at, T = self._at, self._T
        reduced = self._reduce(projected)
        balance, missing = self._sums
        right = np.concatenate(
            [
                prices + T.T @ reduced,
                [labelled - float(at.column_sums @ self._within(projected)) + balance, missing],
            ]
        )
        found = np.linalg.solve(self._matrix, right)
        d, b, lam = found[:-2], float(found[-2]), float(found[-1])
        e = projected - self._HT @ d - at.column_sums * b
        x = T @ d + self._within(e)
        return _Step(d, b, lam, x, self._reduce(e))

    def _within(self, vectors: Array) -> Array:
        """Return L (I + L'HL)^-1 L' times vectors (R,) or (R, k)."""
        return self._L @ cho_solve(self._inner, self._L.T @ vectors)

    def _reduce(self, vectors: Array) -> Array:
        """Return N times vectors (R,) or (R, k)."""
        return vectors - self._at.products @ self._within(vectors)


def _factorised(matrix: Array) -> tuple[Array, bool]:
    """Return the Cholesky factor of a matrix that is positive definite but for rounding."""
    try:
        return cho_factor(matrix, lower=True)
    except LinAlgError:
        raised = matrix + _ROUNDING * float(np.trace(matrix)) * np.eye(len(matrix))
        return cho_factor(raised, lower=True)


def _root(core: Array) -> Array:
    """Return L with L L' = `core` (r, r), which is positive semidefinite up to rounding."""
    values, vectors = np.linalg.eigh(core)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _longest(variables: Array, direction: Array) -> float:
    fastest = float((-direction / variables).max())
    return 1.0 / fastest if fastest > 0 else np.inf
