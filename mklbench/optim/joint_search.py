"""The joint method on a bank: factors as fine as they have to be, and a certificate of the kernels.

`mklbench.optim.joint` solves the problem on factors that leave a share of each kernel out. Its
points are certified for the kernels themselves, on factors that leave out nothing but rounding:

- the primal at the function with the coefficients v on the nodes, which is in the spaces of the
  kernels and whose norm there is known, bounds the optimum from above;
- the dual at alpha, balanced to y'alpha = 0, bounds it from below.

Where that gap is wider than asked for though the gap on the factors is not, the factors are made
finer of those kernels whose forms a'K_m a lose too much, and the search goes on: the start from the
function and the weights that it has, the interior-point method from alpha too, at a mu that makes
up the gap. Where that leads nowhere, it begins anew on the finest of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from mklbench import iterations
from mklbench.certify import Bounds, Hinge, PrimalDualPoint, Tube, bounds
from mklbench.errors import InputError
from mklbench.kernels.contract import NUMBER
from mklbench.kernels.row_factors import MANY, RowFactors
from mklbench.optim.joint import Iterate
from mklbench.optim.joint_start import SmoothedPath
from mklbench.optim.linearised import terms_of
from mklbench.optim.row_blocks import KEPT, Engine, FactorProblem, threads
from mklbench.optim.weight_sets import WeightSet
from mklbench.solution import Solution

Array = NDArray[np.float64]

# The shares of the traces that factors leave out: the first in units of the gap asked for, so that
# they mostly do, and what comes next where they are too coarse. With many samples and a large C
# more of alpha is in what is left out. On products of features, with C = 100 and 100,000 to a
# million samples, its part of the gap was 7e-8 times the sum of C times the root of the share; it
# is kept below a seventh of the gap asked for.
_DROPPED, _OF_SUM, _FINER = 1e-3, 2e6, (1e-9, 1e-11, 1e-14)
# Too coarse for a kernel are those that leave out more of its form than this times the gap asked
# for, in units of the largest form. After so many rounds they are the finest of all kernels.
_LACKING, _ROUNDS = 0.3, 4
# The gap on the factors that is aimed at, in units of the gap asked for.
_AIM = 0.5
# A first look is taken at this gap, in the same units: what factors leave out comes to bear late.
# Too coarse are those that add more than the second to it.
_EARLY, _TOO_COARSE = 1.0, 0.6
# Points are looked at below this gap whatever is asked for: rounding may widen the next.
_ALWAYS = 1e-8
# Where the gap on factors is less than this share of the certified one, more iterations are vain.
_LIMITED = 0.05
# A gap asked for below this needs factors in double precision; so do entries beyond the other, of
# which sums of squares would leave single precision.
_SINGLE, _LARGEST = 1e-4, 1e6
# Seconds of an n^2 and of an n R^2, about, on which the choice of a method rests (docs/scale.md).
_PER_GRAM, _PER_FACTORS = 1.4e-7, 6e-10
# The finest gap that factors are chosen for.
_FINEST = 1e-5
# Vectors of n numbers that the method holds.
_VECTORS = 25


def pays(n: int, rank: int, tol: float) -> bool:
    """Tell whether the joint method is the one to choose, by its cost beside that of Gram matrices.

    Parameters
    ----------
    n : int
        Number of samples.
    rank : int
        Columns of the first factors.
    tol : float
        The gap asked for.
    """
    return n >= MANY and tol >= _FINEST and _PER_FACTORS * rank**2 < _PER_GRAM * n


def bytes_needed(n: int, rank: int, n_terms: int = 1) -> float:
    """Return the bytes that `search` takes.

    Parameters
    ----------
    n : int
        Number of samples.
    rank : int
        Columns of the first factors.
    n_terms : int, default=1
        Dual variables a sample, 2 of a regression.
    """
    kept = min(0.5 * NUMBER * n * rank, KEPT)
    return NUMBER * (_VECTORS * n_terms * n + 12.0 * rank**2) + kept


def first_rank(factors: RowFactors, tol: float) -> int:
    """Return how many columns the first factors of a search have, where the sum of C is not large.

    Parameters
    ----------
    factors : RowFactors
        Of the kernels, without loss.
    tol : float
        The gap asked for.
    """
    return factors.reduced(_dropped(tol)[0]).rank


def _dropped(tol: float, total: float = 1.0) -> tuple[float, ...]:
    """Return the shares, for C whose sum is `total`: each is less than the one before."""
    first = max(min(_DROPPED * tol, (_OF_SUM * tol / total) ** 2), _FINER[0])
    return first, *(share for share in _FINER if share < first)


@dataclass(frozen=True)
class CertifiedPoint:
    """A certified point.

    Attributes
    ----------
    x : ndarray of shape (k,)
        That of the path there.
    weights : ndarray of shape (M,)
        d, with exact zeros.
    dual_coef : ndarray of shape (n,)
        a, which is alpha o y of an SVM.
    intercept : float
        b.
    expansion : ndarray of shape (R,)
        The coefficients of the function on the nodes of the kernels.
    projected : ndarray of shape (R,)
        B'a.
    objective : float
        The dual value at the weights and `dual_coef`, and the price of the weights.
    bounds : Bounds
        On the optimum, for the kernels themselves.
    on_factors : float
        The gap of the same point on the factors that it was found with.
    least_margin : float
        The least y_i f(x_i).
    width : float
        Of the window of the path there; 0 is that of the interior-point method.
    """

    x: Array
    weights: Array
    dual_coef: Array
    intercept: float
    expansion: Array
    projected: Array
    objective: float
    bounds: Bounds
    on_factors: float
    least_margin: float
    width: float

    @property
    def gap(self) -> float:
        """The relative gap."""
        return self.bounds.relative_gap


def solve(
    factors: RowFactors, weight_set: WeightSet, loss: Hinge | Tube, tol: float, max_iter: int
) -> Solution:
    """Return the best certified point. Whoever watches is told where it separates two classes.

    Parameters
    ----------
    factors : RowFactors
        Of the kernels on n samples, without loss.
    weight_set : WeightSet
        Where the weights may be.
    loss : Hinge or Tube
        With the labels or targets of the samples, and the bounds on the dual coefficients.
    tol : float
        The certified relative gap asked for.
    max_iter : int
        Maximum number of iterations on each of the factors.

    Returns
    -------
    Solution
        With an `expansion`; `dual_coef` proves the gap. `history` has an entry an iteration, with
        the upper bound and the gap on the factors; the last one has the gap of what is returned
        beside that of its point on the factors ("on_factors").

    Raises
    ------
    InputError
        If C times the kernels is beyond the range of double precision.
    """
    history, terms = iterations.begin(), terms_of(loss)
    best: CertifiedPoint | None = None
    dropped = _dropped(tol, float(terms.box.sum()))
    levels, anew, attempt, over = np.zeros(len(factors.parts), dtype=int), False, 0, False
    while not over:
        coarse = factors.reduced([dropped[level] for level in levels])
        finest = bool((levels == len(dropped) - 1).all())
        double = tol < _SINGLE or coarse.largest_entry() > _LARGEST
        dtype = np.float64 if double else np.float32
        with threads(FactorProblem(coarse, factors, terms, dtype)) as engine:
            way = _set_out(coarse, engine, weight_set, tol, None if anew else best)
            found = _followed(*way, factors, loss, tol, max_iter, history, finest)
            best = min(filter(None, (best, found)), key=lambda point: point.gap, default=None)
            over = found is None or best is None or best.gap <= tol or anew
        del way, engine  # Their rows make room for finer ones.
        attempt, anew = attempt + 1, finest
        if found is not None and not over:
            levels = _finer(levels, attempt, _lost(factors, dropped, found), tol)
    if best is None:
        raise InputError(
            "C times the kernels is beyond the range of double precision: bring the features to a "
            "common scale, or take another C."
        )
    if isinstance(loss, Hinge) and best.least_margin > 0.0:
        iterations.tell(history, "the kernels separate the two classes")
    return Solution(
        weights=best.weights,
        dual_coef=best.dual_coef,
        intercept=best.intercept,
        objective=best.objective,
        gap=best.gap,
        n_svm_calls=0,
        n_iter=len(history) - 1,
        converged=best.gap <= tol,
        history=[*history[:-1], {**history[-1], "gap": best.gap, "on_factors": best.on_factors}],
        expansion=best.expansion,
    )


def _finer(levels: NDArray[np.intp], attempt: int, lost: Array, tol: float) -> NDArray[np.intp]:
    """Return how fine the factors of each part are to be next, as places in `_dropped`.

    `lost` (levels, parts) has what the factors at each level leave out. Of a part that lacks
    something the next are the first that do not.
    """
    last = len(lost) - 1
    if attempt >= _ROUNDS:
        return np.full_like(levels, last)
    lacking = lost > _LACKING * tol
    lacking[last] = False
    wanted = np.maximum(levels, lacking.argmin(axis=0))
    return wanted if (wanted > levels).any() else np.minimum(levels + 1, last)


def _lost(factors: RowFactors, dropped: tuple[float, ...], found: CertifiedPoint) -> Array:
    """Return what the factors at each level leave out of the forms of each part (levels, parts).

    The largest form is 1.
    """
    forms = factors.forms(found.projected)
    lost = []
    for coarse in map(factors.reduced, dropped):
        shares = (forms - coarse.forms(coarse.lowered(found.projected))) / (forms.max() or 1.0)
        lost.append([shares[part.kernels].max() for part in factors.parts])
    return np.array(lost)


def _set_out(
    factors: RowFactors,
    engine: Engine,
    weight_set: WeightSet,
    tol: float,
    at: CertifiedPoint | None,
) -> tuple[SmoothedPath, Iterator[Iterate]]:
    """Return a path from a point, or from the function 0, and its points."""
    x, v, b, width = weight_set.start, np.zeros(factors.rank), 0.0, 0.0
    if at is not None:
        x, v, b, width = at.x, factors.lowered(at.expansion), at.intercept, at.width
    path = SmoothedPath(factors, engine, weight_set, x, v, b, width)
    if at is None or width:
        return path, path.points(tol)
    mu = (at.bounds.upper - at.bounds.lower) / (2 * factors.n_samples)
    return path, path.central(mu, at.dual_coef).iterates()


def _followed(
    path: SmoothedPath,
    points: Iterator[Iterate],
    factors: RowFactors,
    loss: Hinge | Tube,
    tol: float,
    max_iter: int,
    history: iterations.History,
    finest: bool,
) -> CertifiedPoint | None:
    """Follow a path until its points are good enough, or finer factors are called for.

    None is for a path that has none.
    """
    best: CertifiedPoint | None = None
    state: Iterate | None = None
    for state in islice(points, max_iter):
        iterations.note(
            history, state.weights, objective=state.upper, gap=max(state.gap, 0.0), n_svm_calls=0
        )
        if state.gap > (_EARLY if best is None else _AIM) * max(tol, _ALWAYS):
            continue
        found = _certified(path, state, factors, loss, tol)
        if best is None or found.gap < best.gap:
            best = found
        too_coarse = found.gap - found.on_factors > _TOO_COARSE * tol and not finest
        if best.gap <= tol or too_coarse or state.gap < _LIMITED * found.gap:
            break
    if best is None and state is not None:
        best = _certified(path, state, factors, loss, tol)
    return best


def _certified(
    path: SmoothedPath, state: Iterate, factors: RowFactors, loss: Hinge | Tube, tol: float
) -> CertifiedPoint:
    """Certify a point for the kernels themselves; small weights are 0 if the gap allows."""
    dual_coef = balanced(np.concatenate(path.engine.each("dual_coef")))
    expansion = path.factors.lifted(state.expansion)
    forms = factors.forms(expansion)
    candidates, penalty = path.weight_set.candidates(state.x), path.weight_set.penalty
    functions = np.stack([factors.expanded(each, expansion) for each in candidates], axis=1)
    answers = path.engine.each("both_exactly", dual_coef, functions)
    projections, parts = zip(*answers, strict=True)
    projected, outputs = np.asarray(sum(projections)), np.concatenate(parts)
    dual_forms = factors.forms(projected)
    results = []
    for weights, own in zip(candidates, outputs.T, strict=True):
        primal = PrimalDualPoint(loss, weights, forms, own, dual_coef, state.intercept)
        dual = replace(primal, forms=dual_forms)
        # Of VSKL the value at the weights may be above the primal at the functions.
        upper = max(bounds(primal, penalty).upper, dual.objective)
        both = Bounds(upper, bounds(dual, penalty).lower)
        objective = dual.objective + penalty.of_weights(weights)
        point = state.x, weights, dual_coef, state.intercept, expansion, projected
        margin = float((loss.y * (own + state.intercept)).min())
        results.append(CertifiedPoint(*point, objective, both, state.gap, margin, path.width))
    few, all_of_them = results[0], results[-1]
    return few if few.gap <= max(tol, all_of_them.gap) else all_of_them


def balanced(dual_coef: Array) -> Array:
    """Return a (n,) with the sum 0 to rounding: those of the longer sign are scaled down.

    Parameters
    ----------
    dual_coef : ndarray of shape (n,)
        a, whose sum is nearly 0.
    """
    positive, negative = (float(np.maximum(sign * dual_coef, 0.0).sum()) for sign in (1.0, -1.0))
    less = min(positive, negative)
    if less == 0.0:
        return np.zeros_like(dual_coef)
    return dual_coef * np.where(dual_coef > 0, less / positive, less / negative)
