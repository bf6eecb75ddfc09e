"""The joint method where kernels have landmarks in place of exact factors.

Kernels k~_m on landmarks (`mklbench.kernels.landmarks`) are never above the kernels k_m that they
stand for. So the primal value that is found is an upper bound of both problems, as its function is
in the spaces of the k_m and its length there is known, and the lower bound is one of the problem on
the k~_m. The gap between the two is that of the approximation.

How much lower the optimum of the k_m themselves may be follows from the same alpha,

    J >= max over 0 <= t <= 1 of  t l(a) - t^2 D(a' K_m a),

l being the linear part of the dual, sum alpha of an SVM, and D(q) of the simplex max_m q_m / 2,

and of a'(K_m - K~_m) a = sum_i a_i ((K_m - K~_m) a)_i a number of samples i, drawn with
probabilities |a_i| / sum |a|, tell the mean, with its standard error. So many rows of each kernel
are all that is computed of it.

On the simplex most kernels have no weight in the end. Which have is found on some of the samples;
the others take part in the certificate, and in the search only where it says that they are missing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mklbench import iterations
from mklbench.certify import Bounds, Hinge, Loss, PrimalDualPoint, Tube, bounds
from mklbench.kernels.landmarks import Landmarks
from mklbench.kernels.row_factors import Part, RowFactors
from mklbench.optim import joint_search
from mklbench.optim.joint_search import Found
from mklbench.optim.loss_terms import every, terms_of
from mklbench.optim.row_engines import FactorProblem, OfSamples, engine_of
from mklbench.optim.weight_sets import OneSum, WeightSet
from mklbench.penalties.base import Penalty
from mklbench.penalties.simplex import Simplex
from mklbench.solution import Approximation

Array = NDArray[np.float64]

# Kernels on landmarks are chosen where there are more than this many columns of them: on so many
# samples and landmarks, to this gap.
_FEW_COLUMNS = 300
_SAMPLED, _LANDMARKS, _ROUGH = 4000, 200, 1e-2
# Samples that tell the effect of what landmarks leave out, and the standard errors added to it.
_TOLD_BY, _ERRORS = 500, 2.0
_SEED = 0


@dataclass(frozen=True)
class Approximated:
    """A certified point of the problem on landmarks.

    Attributes
    ----------
    found : Found
        The point; its bounds are those of the problem on landmarks, of all kernels.
    approximation : Approximation
        What is known of the problem on the kernels themselves.
    """

    found: Found
    approximation: Approximation


def search(
    factors: RowFactors, weight_set: WeightSet, loss: Hinge | Tube, tol: float, max_iter: int
) -> tuple[Approximated, iterations.History]:
    """Return the best certified point, and what happened on the way to it.

    Parameters
    ----------
    factors : RowFactors
        Of the kernels on n samples, of which some have landmarks.
    weight_set : WeightSet
        Where the weights may be.
    loss : Hinge or Tube
        With the labels or targets of the samples, and the bounds on the dual coefficients.
    tol : float
        The certified relative gap asked for, on the problem with landmarks.
    max_iter : int
        Maximum number of iterations on each of the factors.

    Returns
    -------
    found : Approximated
        The point, its `expansion` (R,) in the bases of `factors`.
    history : list of dict
        An entry an iteration.
    """
    history = iterations.begin()
    if not isinstance(weight_set, OneSum):  # all have a weight
        own, _ = joint_search.search(factors, weight_set, loss, tol, max_iter, history)
        return _with_effect(factors, own, loss, weight_set.penalty), history
    chosen = {*_exact(factors), *_in_use(factors, loss, max_iter)}
    while True:
        parts = sorted(chosen)
        own = _on_parts(factors, parts, loss, tol, max_iter, history)
        found = _of_all(factors, parts, own, loss)
        missing = _missing(factors, parts, factors.forms(found.projected))
        if not missing or found.gap <= max(tol, own.gap):
            return _with_effect(factors, found, loss, weight_set.penalty), history
        chosen.update(missing)


def _on_parts(
    factors: RowFactors,
    parts: list[int],
    loss: Hinge | Tube,
    tol: float,
    max_iter: int,
    history: iterations.History | None = None,
) -> Found:
    """Solve the problem on the simplex of some of the kernels."""
    own = factors.only(parts)
    return joint_search.search(own, OneSum(own.n_kernels), loss, tol, max_iter, history)[0]


def _exact(factors: RowFactors) -> list[int]:
    return [i for i, part in enumerate(factors.parts) if part.left_out is None]


def _in_use(factors: RowFactors, loss: Hinge | Tube, max_iter: int) -> list[int]:
    """Return the parts on landmarks that have a weight in the problem on some samples.

    They join the search one at a time, the one first whose form is largest.
    """
    approximated = factors.approximated
    columns = sum(factors.parts[i].basis.rank for i in approximated)
    if len(approximated) == 1 or columns <= _FEW_COLUMNS:
        return approximated
    step = -(-factors.n_samples // _SAMPLED)
    rough = every(loss, step)
    terms = terms_of(rough)
    wanted = terms.middle()
    width = np.ptp(terms.signs * terms.targets, axis=0).max()
    if np.ptp(wanted) <= width:  # of one class, or within a tube
        return approximated
    fewer = [_with_fewer(part) for part in factors.parts]
    few = RowFactors(np.asarray(factors.X[::step], dtype=np.float64), fewer, factors.cross)
    chosen = _exact(few)
    if not chosen:
        agreeing = few.forms(_projected(few, wanted))
        chosen = [max(approximated, key=lambda i: agreeing[few.parts[i].kernels].max())]
    while True:
        with iterations.watched(None):
            own = _on_parts(few, chosen, rough, _ROUGH, max_iter)
        found = _of_all(few, chosen, own, rough)
        missing = _missing(few, chosen, few.forms(found.projected))
        if not missing or found.gap <= max(_ROUGH, own.gap):
            return [i for i in approximated if found.weights[few.parts[i].kernels].any()]
        chosen = sorted([*chosen, missing[0]])


def _with_fewer(part: Part) -> Part:
    """Return a part with no more than so many landmarks."""
    if not isinstance(part.basis, Landmarks) or part.basis.rank <= _LANDMARKS:
        return part
    basis = part.basis.first_landmarks(_LANDMARKS)
    core = part.cores[:, :_LANDMARKS, :_LANDMARKS]
    return replace(part, basis=basis, cores=core, nodes=basis.directions)


def _of_all(factors: RowFactors, parts: list[int], own: Found, loss: Loss) -> Found:
    """Return a point on some parts as one on all, with the bounds of all."""
    kernels = np.concatenate([factors.parts[i].kernels for i in parts])
    weights = np.zeros(factors.n_kernels)
    weights[kernels] = own.weights
    expansion, start = np.zeros(factors.rank), 0
    for i in parts:
        columns = factors.columns[i]
        stop = start + columns.stop - columns.start
        expansion[columns] = own.expansion[start:stop]
        start = stop
    t = _projected(factors, own.dual_coef)
    nothing = np.zeros(factors.n_samples)
    dual = PrimalDualPoint(loss, weights, factors.forms(t), nothing, own.dual_coef, own.intercept)
    both = Bounds(own.bounds.upper, bounds(dual, Simplex()).lower)
    return replace(own, weights=weights, expansion=expansion, projected=t, bounds=both)


def _missing(factors: RowFactors, parts: list[int], forms: Array) -> list[int]:
    """Return the other parts with larger forms than all kernels of these, the largest first."""
    largest = [float(forms[part.kernels].max()) for part in factors.parts]
    most = max(largest[i] for i in parts)
    others = [i for i in range(len(largest)) if i not in parts and largest[i] > most]
    return sorted(others, key=lambda i: -largest[i])


def _with_effect(factors: RowFactors, found: Found, loss: Loss, penalty: Penalty) -> Approximated:
    approximated = [factors.parts[i] for i in factors.approximated]
    left_out = _left_out_forms(factors, found.dual_coef, found.projected)
    forms = factors.forms(found.projected)
    whole = forms.copy()
    for part, more in zip(approximated, left_out, strict=True):
        whole[part.kernels] += more
    linear = loss.dual_value(found.dual_coef)
    lower, without = (_best_scaled(linear, penalty.dual_value(each)) for each in (forms, whole))
    in_use = [part for part in approximated if found.weights[part.kernels].any()]
    approximation = Approximation(
        landmarks=max(part.basis.rank for part in approximated),
        n_kernels=len(approximated),
        left_out=max((part.left_out or 0.0 for part in in_use), default=0.0),
        effect_on_objective=(lower - without) / abs(found.bounds.upper),
    )
    return Approximated(found, approximation)


def _best_scaled(linear: float, price: float) -> float:
    """Return the largest t linear - t^2 price for 0 <= t <= 1."""
    t = min(1.0, 0.5 * linear / price) if price > 0.0 else 1.0
    return t * linear - t**2 * price


def _left_out_forms(factors: RowFactors, a: Array, t: Array) -> Array:
    """Return a'(K_m - K~_m) a of each kernel with landmarks, by some samples; with their error.

    `t` (R,) is B'a.
    """
    approximated = factors.approximated
    parts = [factors.parts[i] for i in approximated]
    support = np.flatnonzero(a)
    sizes = np.abs(a[support])
    total = float(sizes.sum())
    if total == 0.0:
        return np.zeros(len(parts))
    if len(support) <= _TOLD_BY:
        rows, shares = support, sizes / total
    else:
        rng = np.random.default_rng(_SEED)
        rows = rng.choice(support, _TOLD_BY, p=sizes / total)
        shares = np.full(len(rows), 1.0 / len(rows))
    samples = np.asarray(factors.X[rows], dtype=np.float64)
    # The kernels between these samples and all, times a: as if these were the nodes.
    whole = RowFactors(factors.X, [_at(part, samples) for part in parts], factors.cross)
    values = _projected(whole, a).reshape(len(parts), len(rows))
    found = np.empty(len(parts))
    for m, part in enumerate(parts):
        kept = part.basis.outputs(samples, t[factors.columns[approximated[m]], None])[:, 0]
        terms = np.sign(a[rows]) * (values[m] - kept)
        mean = float(shares @ terms)
        error = float(terms.std()) / np.sqrt(len(terms)) if len(support) > _TOLD_BY else 0.0
        scale = float(part.cores[0, 0, 0])
        found[m] = scale * total * (max(mean, 0.0) + _ERRORS * error)
    return found


def _projected(factors: RowFactors, a: Array) -> Array:
    """Return B'a (R,) in double precision."""
    nothing = terms_of(Hinge(np.ones(len(a)), 1.0))  # no loss is asked for
    problem = FactorProblem(factors, factors, nothing, np.float64)
    with engine_of(problem) as engine:
        return np.asarray(engine.total("projected_exactly", OfSamples((a,))))


def _at(part: Part, samples: Array) -> Part:
    """Return the part whose rows are the values of its kernel at some samples."""
    basis = part.basis
    assert isinstance(basis, Landmarks)
    return replace(part, basis=basis.between(samples), cores=part.cores[:, :1, :1], nodes=None)
