"""MKL on factors: weights, alpha and intercept together, by one interior-point method.

With K_m = B S_m B' (`mklbench.kernels.row_factors`) the problem of SimpleMKL is the saddle point

    min over d >= 0, 1'd = 1,  max over 0 <= alpha <= C, y'alpha = 0  of
    1'alpha - 1/2 sum_m d_m q_m,    q_m = t' S_m t,    t = B' Y alpha,    Y = diag(y).

With multipliers l, u (n,) of the bounds on alpha, z (M,) of d >= 0, b of y'alpha = 0 and lam of
1'd = 1, the central path at mu > 0 is

    Y (B S_d v + b) - 1 - l + u = 0,    l o alpha = mu,    u o (C - alpha) = mu,    y'alpha = 0,
    lam - q_m / 2 - z_m = 0,            z o d = mu,        1'd = 1,    v = t,

S_d = sum_m d_m S_m and now q_m = v' S_m v. On another set the weights are functions of some x,
which takes the place of d in the last line (`mklbench.optim.weight_sets`); of another loss there
are other numbers in the place of y and 1, and of a regression two alpha a sample
(`mklbench.optim.row_blocks`).

There is no outer loop and no SVM: each iteration solves one linear system
(`mklbench.optim.joint_newton`), which needs B' Theta B and products of B with a few vectors of n
samples; all else is of the size of R, the columns of B, and of M.

v (R,) is a variable of its own. It begins at that of a fit of squares, where t is far from what it
is at the optimum, as it sums over n samples; t - v shrinks with every step. The function is that of
v, too: where C times the kernels is huge the terms of t cancel, and a rounding of alpha in its last
digit is a large change of B S_d t.

The predictor and corrector are those of Mehrotra (1992), the latter with all that is of second
order in the predictor's step, S_d v and q included. Where the step that they allow is short,
correctors of Gondzio (1996) bring the products that are far from mu nearer to it. Multipliers l and
u do not limit a step, nor do a few alpha: they stay inside their bounds by themselves, and the
equations take up what they lack in the next iteration.

Bounds of the problem on the factors come with each iteration; the certificate of the problem on the
kernels themselves is made outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, block_diag

from mklbench.kernels.row_factors import ROWS, RowFactors
from mklbench.optim.joint_newton import Change, NewtonSystem, preimage, root
from mklbench.optim.row_blocks import SHARE, UNFLAGGED, Aims, Direction, Linearised
from mklbench.optim.row_engines import Engine
from mklbench.optim.weight_sets import WeightSet

Array = NDArray[np.float64]

# Of what the method starts from: samples, how often at most those on the right side of their margin
# leave the least squares (squared hinges by Newton's method), and the ridge.
_SAMPLED = 3000
_SQUARES = 12
_RIDGE_OF_INTERCEPT = 1e-8
# Products of a block of rows in single precision are wrong by this share of their trace. So large
# may be what that makes of their sum.
_SINGLE, _LARGEST_ERROR = 6e-8, 0.02
# Correctors of Gondzio (1996): there are so many at most, for steps that are shorter than this.
_CORRECTORS, _LONG = 4, 0.9
# They aim at a step that is so much longer, where products are within this factor of what is aimed
# at; one that does not give this share of it ends them.
_LONGER, _SPREAD, _WORTH = 0.3, 10.0, 0.1
# After a step no product is below this share of their mean: multipliers are raised to there.
_LEAST = 0.1
# Mehrotra's aim is timid where the predictor's step is short. It is at most this share of the mean
# product, once no entry of t - v is so many times the largest of v.
_AT_MOST, _FAR = 0.1, 20.0
# Complementarity is not brought ahead of the equations: so much of what they lack is left of it,
# and of the gap once that is below the second.
_BEHIND, _NEAR = 0.1, 0.1
# After so many steps that are shorter than this, and not so many times as long as the one before, a
# path is too far from the central one to go on.
_STUCK, _SHORT, _LONGER_AGAIN = 3, 0.1, 2.0
# So much of the gap, in complementarity, is aimed at where weights are no linear function of x.
_LAG = 1e-6


@dataclass(frozen=True)
class Iterate:
    """A point near the central path, as far as it is no longer than the factors are wide.

    Attributes
    ----------
    x, weights : ndarray of shape (k,) and (M,)
        x > 0 and d.
    intercept : float
        b.
    expansion : ndarray of shape (R,)
        v; the function is B S_d v + b.
    upper, lower : float
        Bounds on the optimum of the problem on the factors. While y'alpha is not 0 the second is
        no more than a guess; less |b y'alpha|, as it is, it is below the first.
    """

    x: Array
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
class _Followed:
    """A direction of all variables, and how far it is followed.

    Attributes
    ----------
    change : Change
        Of those that are here, but for `dz`.
    dz : ndarray of shape (k,)
        Of z.
    along : Direction
        What it means for the samples.
    step : float
        At most 1.
    """

    change: Change
    dz: Array
    along: Direction
    step: float


class CentralPath:
    """The way along the central path on some factors.

    The variables of n samples are with the blocks of an engine; the others are here.

    Attributes
    ----------
    factors : RowFactors
        The kernels.
    engine : Engine
        The samples.
    weight_set : WeightSet
        Where the weights may be.
    """

    def __init__(
        self,
        factors: RowFactors,
        engine: Engine,
        weight_set: WeightSet,
        v: Array,
        x: Array,
        prices: Array,
        intercept: float,
        levels: Array,
    ) -> None:
        self.factors, self.engine, self.weight_set = factors, engine, weight_set
        self.v, self.x, self.z = v, x, prices
        self.b, self.lam = intercept, levels

    @classmethod
    @np.errstate(**UNFLAGGED)
    def begin(cls, factors: RowFactors, engine: Engine, weight_set: WeightSet) -> CentralPath:
        """Set out from squares on some of the samples, at weights that are all alike.

        Of two classes the squares are hinged. The start is on the central path at the mean bound
        times the spread of what is wanted.

        Parameters
        ----------
        factors : RowFactors
            The kernels on n samples.
        engine : Engine
            The same samples in blocks.
        weight_set : WeightSet
            Where the weights may be.
        """
        n, x = factors.n_samples, weight_set.start
        weights = weight_set.weights(x)
        chosen = np.arange(n) % max(1, n // _SAMPLED) == 0
        parts = engine.each("sampled", chosen)
        B = np.concatenate([rows for rows, _, _ in parts]).astype(np.float64)
        y, box = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        # Of classes each counts as much as the other, or a rare one would hardly be seen.
        classes, own = np.unique(y, return_inverse=True)
        if len(classes) == 2:
            box = box * (0.5 * box.sum() / np.bincount(own, box))[own]
        L = block_diag(*(root(core) for core in factors.combined(weights)))
        features = np.column_stack([B @ L, np.ones(len(B))])
        ridge = np.diag(np.append(np.ones(features.shape[1] - 1), _RIDGE_OF_INTERCEPT))
        active = box
        for _ in range(_SQUARES):
            rows = np.sqrt(active[active > 0.0, None]) * features[active > 0.0]
            inner = rows.T @ rows + ridge
            w = np.linalg.solve(inner, features.T @ (active * y))
            before, wrong = active, y * (y - features @ w) > 0.0
            active = box * wrong if len(classes) == 2 else box
            if (active == before).all():
                break
        function, b = L @ w[:-1], float(w[-1])
        spread = float(np.sqrt(np.cov(y, aweights=box, ddof=0))) or 1.0  # one class is sampled
        mu = box.mean() * spread
        engine.each("begin", function, b, mu)
        v = preimage(L, w[:-1])
        prices, levels = _prices(factors, weight_set, x, v, mu)
        return cls(factors, engine, weight_set, v, x, prices, b, levels)

    @classmethod
    def resume(
        cls,
        factors: RowFactors,
        engine: Engine,
        weight_set: WeightSet,
        x: Array,
        expansion: Array,
        intercept: float,
        mu: float,
    ) -> CentralPath:
        """Set out from the function and the weights that another path has come to.

        Its other variables are so near to their bounds that no long step can be made from them on
        other factors: those of the central path are taken for them.

        Parameters
        ----------
        factors : RowFactors
            Of the same kernels.
        engine : Engine
            The samples in blocks.
        weight_set : WeightSet
            Where the weights may be.
        x : ndarray of shape (k,)
            x > 0.
        expansion : ndarray of shape (q,)
            v, in the bases before these were reduced.
        intercept : float
            b.
        mu : float
            Where on the central path to set out.
        """
        v = factors.lowered(expansion)
        function = factors.expanded(weight_set.weights(x), v)
        engine.each("begin", function, intercept, mu)
        prices, levels = _prices(factors, weight_set, x, v, mu)
        prices = np.maximum(prices, mu / x)
        return cls(factors, engine, weight_set, v, x, prices, intercept, levels)

    def dual_coef(self) -> Array:
        """Return a (n,), which is alpha o y of an SVM."""
        return np.concatenate(self.engine.each("dual_coef"))

    def iterates(self, max_iter: int, to_the_end: bool = False) -> Iterator[Iterate]:
        """Yield one point after the other, until no direction can be found, or none leads far.

        Parameters
        ----------
        max_iter : int
            Maximum number of points; none, if the first is beyond what numbers can be.
        to_the_end : bool, default=False
            Whether to go on where none leads far.
        """
        double, n_short, step = False, 0, 1.0
        for _ in range(max_iter):
            at = self._linearised(double)
            rough = not self._roundoff(at) <= _LARGEST_ERROR
            if rough and not double:
                at = self._linearised(True)
            double = rough
            iterate = self._iterate(at)
            if not np.isfinite(iterate.gap):
                return
            yield iterate
            before = step
            try:
                step = self._step(at, iterate)
            except LinAlgError:
                return
            n_short = n_short + 1 if step < min(_SHORT, _LONGER_AGAIN * before) else 0
            if n_short == _STUCK and not to_the_end:
                return

    def _linearised(self, double: bool) -> Linearised:
        return self.engine.total("linearise", self._function(self.x, self.v), self.b, double)

    def _function(self, x: Array, v: Array) -> Array:
        """Return S_d v (R,)."""
        return self.factors.expanded(self.weight_set.weights(x), v)

    def _slopes(self, x: Array, v: Array) -> Array:
        """Return s o J'q / 2 (k,)."""
        return self.weight_set.slopes(x, 0.5 * self.factors.forms(v))

    @np.errstate(**UNFLAGGED)
    def _iterate(self, at: Linearised) -> Iterate:
        d, penalty = self.weight_set.weights(self.x), self.weight_set.penalty
        upper = penalty.value(d, self.factors.forms(self.v)) + at.loss
        dual = at.linear - penalty.dual_value(self.factors.forms(at.expansion))
        lower = dual - abs(self.b * at.balance)
        return Iterate(self.x, d, self.b, self.v, upper, lower)

    def _roundoff(self, at: Linearised) -> float:
        """Return the error of L' H L in single precision, about: that of a block is random."""
        traces = (
            np.sum(core * at.products[columns, columns])
            for core, columns in zip(
                self.factors.combined(self.weight_set.weights(self.x)),
                self.factors.columns,
                strict=True,
            )
        )
        return _SINGLE * float(sum(traces)) / max(1.0, self.factors.n_samples / ROWS) ** 0.5

    @np.errstate(**UNFLAGGED)
    def _step(self, at: Linearised, iterate: Iterate) -> float:
        """Go a step, and return how long it was."""
        system = NewtonSystem(self.factors, at, self.weight_set, self.x, self.z, self.v)
        n_pairs = at.n_pairs + len(self.x)
        complementarity = at.complementarity + float(self.z @ self.x)
        mu = complementarity / n_pairs
        sums = self.weight_set.sums
        slopes = self._slopes(self.x, self.v)
        residual = slopes + self.z - self.lam @ sums
        bend, prices = np.zeros_like(self.v), residual  # of first order, for the predictor

        def direction(aims: Aims, aimed: Array) -> _Followed:
            change = system.solve(
                at.projected + aims.projected,
                at.labelled + aims.labelled,
                prices - self.z + aimed / self.x,
                bend,
            )
            along = self.engine.total("correct", change.outputs, change.intercept)
            dz = (aimed - self.z * change.x) / self.x - self.z
            of_x = SHARE * min(_longest(self.x, change.x), _longest(self.z, dz))
            return _Followed(change, dz, along, min(1.0, along.longest.value, of_x))

        # The predictor, towards mu = 0.
        first = direction(Aims(np.zeros_like(self.v), 0.0), np.zeros_like(self.x))
        dx, step = first.change.x, first.step
        slope = first.along.first + float(self.z @ dx + self.x @ first.dz)
        second = first.along.second + float(dx @ first.dz)
        ahead = (complementarity + step * slope + step**2 * second) / n_pairs
        target = (max(ahead, 0.0) / mu) ** 3 * mu
        if np.abs(at.expansion - self.v).max() < _FAR * np.abs(self.v).max():
            target = min(target, _AT_MOST * mu)
        apart = iterate.upper - iterate.lower
        lacking = max(at.excess, apart) if iterate.gap < _NEAR else at.excess
        target = max(target, min(mu, _BEHIND * lacking / n_pairs))
        if self.weight_set.curved:  # not ahead of what the linear system cannot see
            target = max(target, _LAG * apart / n_pairs)
        # What S_d v and s o J'q / 2 are beside their linear parts, after as much of the predictor's
        # step as the aim leaves of it.
        part = step * max(0.0, 1.0 - target / mu)
        x, v = self.x + part * dx, self.v + part * first.change.expansion
        linear = first.change.levels @ sums - first.dz - residual
        bend = self._function(x, v) - self._function(self.x, self.v) - part * first.change.outputs
        prices = residual + self._slopes(x, v) - slopes - part * linear
        # The corrector, and those of Gondzio as long as they make the step longer.
        aimed = target - dx * first.dz
        best = direction(self.engine.total("aim", target), aimed)
        corrected = True
        for _ in range(_CORRECTORS):
            if best.step > _LONG:
                break
            step = min(1.0, best.step + _LONGER)
            least, most = target / _SPREAD, target * _SPREAD
            products = (self.x + step * best.change.x) * (self.z + step * best.dz)
            aimed = aimed + np.maximum(np.clip(products, least, most) - products, -most)
            found = direction(self.engine.total("recentre", step, least, most), aimed)
            corrected = found.step > best.step + _WORTH * _LONGER
            if not corrected:
                break
            best = found
        step = best.step
        least = _LEAST * ((1.0 - step) * mu + step * target)
        projected = self.engine.total("advance", step, corrected, least)
        self.v = self.v + step * (at.expansion - self.v + projected)
        self.x = self.x + step * best.change.x
        self.z = self.z + step * best.dz
        self.b += step * best.change.intercept
        self.lam = self.lam + step * best.change.levels
        return step


def _prices(
    factors: RowFactors, weight_set: WeightSet, x: Array, v: Array, mu: float
) -> tuple[Array, Array]:
    """Return z > 0 and lam of the central path at mu, but for z o x = mu."""
    slopes = weight_set.slopes(x, 0.5 * factors.forms(v))
    levels = np.array([slopes[row > 0].max() + mu * row.sum() for row in weight_set.sums])
    return levels @ weight_set.sums - slopes, levels


def _longest(variables: Array, direction: Array) -> float:
    fastest = float((-direction / variables).max(initial=0.0))
    return 1.0 / fastest if fastest > 0 else np.inf
