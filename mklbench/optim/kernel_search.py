"""The subproblem of infinite kernel learning: members of a family that violate T(theta) <= lambda.

Gehler & Nowozin 2008, Problem 1: for given alpha and a = alpha o y, maximise over the box

    T(theta) = 1/2 a' K_theta a,        dT/dtheta = 1/2 d(a' K_theta a)/dtheta.

T is not concave, so the search is for local maxima, by L-BFGS-B with exact gradients from several
starts. Only samples with alpha_i != 0 count.

An independent search in a family certifies what this one leaves, and is of another kind. Column
generation ends where its own search finds no kernel beyond the tolerance. That search climbs along
gradients from the family's own starts and from the kernels at hand, and may miss the same local
maximum of T(theta) = 1/2 a' K_theta a every time. Here T ascends coordinate by coordinate: each
parameter in turn takes the value, of its whole interval, that is best with the others as they are.
Such a step leaves a local maximum for a better one far away, where a gradient cannot. The
coordinates come in random order, so ascents from one start end at different maxima. They begin at
random: beside the kernels at hand, with parameters that are perturbed, exchanged or replaced; at
sparse kernels anywhere in the box; and at the kernel with all parameters at the lower end. To take
the best of many random kernels as starts, by their T, was measured to find no better maxima, and it
takes longer than the ascents.

It ends with products of two or three of the kernels at hand, whose parameters are the sums of
theirs. Where the labels depend on several groups of features together, each group has its kernel
first, and no single parameter leads from there to the kernel of all. Most products are of no use,
so that here the best by their T are starts.

What it finds beyond says how far the solution is from the optimum of the family, as far as such a
search can tell: a kernel to which a share p of ascents would lead is missed by k of them with
probability (1 - p)^k.

Kernels in use move: the parameters of all of them descend together, at their weights.

Column generation only ever adds kernels. Where an optimal kernel lies between two that were found,
or beside one, each round brings another one near it, and many rounds go by until their weights
stand for it. It is quicker to move the kernels themselves, after every master (alternating descent
conditional gradient, Boyd, Schiebinger & Recht, SIAM J. Optim. 27, 2017, algorithm 1; the sliding
Frank-Wolfe method, Denoyelle, Duval, Peyre & Soubies, Inverse Problems 36, 2020). With alpha the
solution of the SVM at the weights d and the kernels K_k = K_theta_k, and a = alpha o y, the value

    J(theta_1, ..., theta_K) = sum_i alpha_i - 1/2 sum_k d_k a' K_k a

has the gradient -d_k dT(theta_k; alpha) by Danskin's theorem, T = 1/2 a' K_theta a: a descent
takes one SVM, and one matrix for each kernel, an evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

from mklbench.kernels.base import Array
from mklbench.kernels.continuous import CoordinateSearch, Family, RoughFamily
from mklbench.libsvm import SVM
from mklbench.solution import Mixture

# Iterations of one local search; the authors' Newton method has as many.
_ITERATIONS = 20
# It ends where T grows by less than this share: alpha will not stay, so more is not worth its time.
_LEAST_GROWTH = 1e-4
# Starts of a search: so many of the family's own, those with the largest T; so many of the kernels
# at hand, by turns; and so many of the local maxima that the search before found beyond those that
# joined. A thorough search has that many times as many of the first two.
_BEST_STARTS, _AT_HAND, _LEFT_OVER, _THOROUGH = 6, 6, 6, 3
# Random kernels have parameters over so many powers of ten, up to the end of the box.
DECADES = 4.0
# Kernels whose parameters differ by no more than this are one; where all are below 1, as of many
# features, by no more than this share of the largest.
_SAME = 1e-3


class Found(NamedTuple):
    """A member of the family and its price T (in single precision)."""

    price: float
    theta: Array


class KernelSearch:
    """Searches in one family, each of which may begin where the one before ended.

    Parameters
    ----------
    family : Family
        On the training samples, with a bounded box.
    samples : int, default=0
        Number of random members of the family among which a thorough search looks for starts.
    moved : bool, default=False
        Whether the kernels at hand have been moved to where they are best. Then only a thorough
        search climbs from them, and no start is priced before its climb.
    """

    def __init__(self, family: Family, samples: int = 0, moved: bool = False) -> None:
        self._moved = moved
        self._family = family
        self._samples = samples
        self._random = np.random.default_rng(0)
        self._box = Bounds(family.lower, family.upper)
        self._left: list[Array] = []
        self._turn = 0

    def run(self, dual_coef: Array, known: Mixture, thorough: bool) -> list[Found]:
        """Return local maxima of T, the largest first, no two of them the same.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            Alpha o y.
        known : Mixture
            The kernels at hand with their weights.
        thorough : bool
            Whether to begin at more of the family's starts and of the kernels at hand.
        """
        support = np.flatnonzero(dual_coef)
        family, a = self._family.take(support).single_precision(), dual_coef[support]
        more = _THOROUGH if thorough else 1
        own = self._family.starts()
        if thorough and self._samples:
            own = np.concatenate([own, self._sampled()])
        values = np.array([family.value(theta, a) for theta in own])
        best = np.argsort(-values, kind="stable")[: more * _BEST_STARTS]
        starts: list[tuple[Array, float | None]] = [(own[i], float(values[i])) for i in best]
        at_hand = 0 if self._moved and not thorough else more * _AT_HAND
        for theta in (*self._left, *self._at_hand(known, at_hand)):
            within = np.clip(theta, self._family.lower, self._family.upper)
            starts.append((within, None if self._moved else family.value(within, a)))
        return distinct(climb(family, self._box, a, *start) for start in starts)

    def keep(self, found: Iterable[Found]) -> None:
        """Remember local maxima, the best first, as starts for the next search."""
        self._left = [theta for _, theta in found][:_LEFT_OVER]

    def _at_hand(self, known: Mixture, count: int) -> list[Array]:
        weighted = known.thetas[known.weights > 0]
        turns = [(self._turn + i) % len(weighted) for i in range(min(count, len(weighted)))]
        self._turn += len(turns)
        return [weighted[turn] for turn in turns]

    def _sampled(self) -> Array:
        """Return random members (samples, M): any number of parameters is 0, or at the lower end.

        The others are drawn from a logarithmic scale, as widths of kernels are. Another sample is
        drawn each time.
        """
        shape = (self._samples, self._family.n_kernels)
        shares = 10.0 ** self._random.uniform(-DECADES, 0.0, shape)
        used = self._random.uniform(size=shape) < self._random.uniform(size=(self._samples, 1))
        return np.maximum(np.where(used, shares * self._family.upper, 0.0), self._family.lower)


def climb(
    family: RoughFamily,
    box: Bounds,
    a: Array,
    start: Array,
    price: float | None,
    growth: float = _LEAST_GROWTH,
    iterations: int = _ITERATIONS,
) -> Found:
    """Return the local maximum of T = a' K_theta a / 2 above `start`.

    Parameters
    ----------
    family : RoughFamily
        On the samples of `a`.
    box : Bounds
        Where to search.
    a : ndarray of shape (n,)
        Alpha o y.
    start : ndarray of shape (M,)
        Where to begin, within the box.
    price : float or None
        a' K_start a, the unit in which L-BFGS-B sees a' K_theta a; None where it is not known.
    growth : float, default=1e-4
        It ends where an iteration adds less than this share.
    iterations : int, default=20
        Maximum number of them.
    """
    known: tuple[float, Array] | None = None
    if price is None:
        known = family.quadratic_form(start, a, family.gram(start))
        price = known[0]
    unit = max(abs(price), float(np.finfo(np.float32).tiny))

    def descended(theta: Array) -> tuple[float, Array]:
        nonlocal known
        value, gradient = known or family.quadratic_form(theta, a, family.gram(theta))
        known = None  # L-BFGS-B begins where it starts
        return -value / unit, -gradient / unit

    result = minimize(
        descended,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=box,
        options={"maxiter": iterations, "ftol": growth},
    )
    return Found(-0.5 * unit * float(result.fun), result.x)


def is_new(theta: Array, known: Iterable[Array]) -> bool:
    """Tell whether no kernel in `known` has the parameters `theta`, to within 1e-3.

    Where all are below 1, it is 1e-3 of the largest.
    """
    return all(
        np.abs(theta - other).max() > _SAME * min(1.0, max(theta.max(), other.max()))
        for other in known
    )


def distinct(found: Iterable[Found]) -> list[Found]:
    """Return those with the largest price first, without any that repeats a larger one."""
    different: list[Found] = []
    for candidate in sorted(found, key=lambda each: -each.price):
        if is_new(candidate.theta, (other.theta for other in different)):
            different.append(candidate)
    return different


# Parameters are perturbed by factors exp(s N(0, 1)), or so many of a kernel are replaced.
_SPREAD, _REPLACED = 0.5, 2.0
# Half of the ascents begin beside kernels at hand, a quarter at sparse ones and a quarter at the
# lower end of the box.
_BESIDE, _SPARSE = 0.5, 0.25
# Values of a parameter on an ascent: none, and so many on a logarithmic scale.
_VALUES = 33
# It ends after so many rounds through all parameters, or where one adds less than this share.
_ROUNDS, _LEAST_ASCENT = 5, 1e-4
# What follows along the gradient is short; nothing comes after it.
_CLIMB_GROWTH, _CLIMB_ITERATIONS = 1e-5, 40
# A start is the product of so many kernels at hand, one or the other, the best of so many drawn.
_FACTORS, _DRAWN = (2, 3), 20
# A round of generation has this share of the ascents, where it is not said how many. All
# of them where an ascent is quick, on features of two values: there hundreds of kernels are needed.
_OF_A_ROUND, _OF_A_QUICK_ROUND = 0.05, 1.0


class IndependentSearch:
    """Searches in one family, each from other starts.

    Parameters
    ----------
    family : Family
        On the training samples, with a bounded box.
    n_ascents : int
        Of each search.
    n_round_ascents : int or None, default=None
        Of `run_round`; if not given a twentieth of `n_ascents`, or all where ascents are quick.
    n_product_starts : int, default=0
        Further ascents of each search, from products of kernels at hand.
    """

    def __init__(
        self,
        family: Family,
        n_ascents: int,
        n_round_ascents: int | None = None,
        n_product_starts: int = 0,
    ) -> None:
        self._family = family
        self._n_ascents = n_ascents
        self._n_product_starts = n_product_starts
        if n_round_ascents is None:
            is_quick = family.single_precision().has_quick_lines
            n_round_ascents = math.ceil(
                (_OF_A_QUICK_ROUND if is_quick else _OF_A_ROUND) * n_ascents
            )
        self._n_round_ascents = n_round_ascents
        self._random = np.random.default_rng(1)  # another than that of the first search
        self._of_products = np.random.default_rng(2)
        self._box = Bounds(family.lower, family.upper)
        self._grid = self._values(_VALUES)

    def run(self, dual_coef: Array, known: Mixture) -> list[Found]:
        """Return local maxima of T, the largest first, no two of them the same.

        Parameters
        ----------
        dual_coef : ndarray of shape (n,)
            Alpha o y.
        known : Mixture
            The kernels at hand with their weights.
        """
        return self._search(dual_coef, known, self._n_ascents, self._n_product_starts)

    def run_round(self, dual_coef: Array, known: Mixture) -> list[Found]:
        """Do so with the ascents of one round, for a search that goes on."""
        return self._search(dual_coef, known, self._n_round_ascents, 0)

    def _search(
        self, dual_coef: Array, known: Mixture, n_ascents: int, n_products: int
    ) -> list[Found]:
        support = np.flatnonzero(dual_coef)
        family, a = self._family.take(support).single_precision(), dual_coef[support]
        if self._family.n_kernels == 1:
            return distinct(self._swept(family, max(_VALUES, n_ascents), a))
        thetas = known.thetas[known.weights > 0]
        starts = self._starts(thetas, n_ascents)
        lines = family.lines(a)
        found = distinct(self._ascended(family, lines, start, a, self._random) for start in starts)
        if not n_products:
            return found
        products = self._best_products(family, a, thetas, n_products)
        multiplied = (
            self._ascended(family, lines, start, a, self._of_products) for start in products
        )
        return distinct([*found, *multiplied])

    def _starts(self, thetas: Array, count: int) -> Array:
        """Return kernels (count, M): beside `thetas`, sparse ones, and at the lower end."""
        n_beside, n_sparse = math.ceil(_BESIDE * count), round(_SPARSE * count)
        starts = np.zeros((count, self._family.n_kernels))
        starts[:n_beside] = self._beside(thetas, n_beside)
        starts[n_beside : n_beside + n_sparse] = self._sparse(n_sparse)
        return np.clip(starts, self._family.lower, self._family.upper, out=starts)

    def _best_products(self, family: RoughFamily, a: Array, thetas: Array, count: int) -> Array:
        """Return the `count` products of kernels of `thetas` whose T is largest, of some drawn."""
        if len(thetas) < min(_FACTORS):
            return np.empty((0, self._family.n_kernels))
        random = self._of_products
        sizes = np.minimum(random.choice(_FACTORS, _DRAWN * count), len(thetas))
        chosen = (random.choice(len(thetas), size, replace=False) for size in sizes)
        products = np.array([thetas[factors].sum(axis=0) for factors in chosen])
        products = np.unique(np.clip(products, self._family.lower, self._family.upper), axis=0)
        best = np.argsort(-family.values(products, a), kind="stable")
        found: Array = products[best[:count]]
        return found

    def _ascended(
        self,
        family: RoughFamily,
        lines: CoordinateSearch,
        start: Array,
        a: Array,
        random: np.random.Generator,
    ) -> Found:
        """Return the local maximum to which an ascent from `start` leads, in a random order."""
        lines.begin(start)
        reached = -np.inf
        for _ in range(_ROUNDS):
            before = reached
            reached = lines.sweep(random.permutation(len(start)), self._grid)
            if reached - before < _LEAST_ASCENT * abs(reached):
                break
        return climb(
            family, self._box, a, lines.theta.copy(), None, _CLIMB_GROWTH, _CLIMB_ITERATIONS
        )

    def _swept(self, family: RoughFamily, count: int, a: Array) -> Iterator[Found]:
        """Yield the local maxima along the one parameter, by so many values of it."""
        values = np.unique(self._values(count))
        prices = np.pad(family.values(values[:, None], a), 1, constant_values=-np.inf)
        inner = prices[1:-1]
        for best in np.flatnonzero((inner >= prices[:-2]) & (inner >= prices[2:])):
            yield climb(
                family, self._box, a, values[[best]], None, _CLIMB_GROWTH, _CLIMB_ITERATIONS
            )

    def _values(self, count: int) -> Array:
        """Return values (count + 1, M) of each parameter: none, and so many on a log scale."""
        shares = np.append(0.0, np.geomspace(10.0**-DECADES, 1.0, count))
        return np.clip(shares[:, None] * self._family.upper, self._family.lower, self._family.upper)

    def _beside(self, thetas: Array, count: int) -> Array:
        """Return random kernels (count, M), each beside another one of those at hand."""
        random, upper = self._random, self._family.upper
        origins = np.resize(random.permutation(len(thetas)), count)
        perturbed, crossed, changed = np.array_split(thetas[origins], 3)
        perturbed *= np.exp(_SPREAD * random.standard_normal(perturbed.shape))
        others = thetas[random.integers(len(thetas), size=len(crossed))]
        share = random.uniform(size=(len(crossed), 1))
        np.copyto(crossed, others, where=random.uniform(size=crossed.shape) < share)
        # A parameter that is replaced is dropped, halved, doubled or, as often, drawn anew.
        shape = changed.shape
        factors = random.choice(np.array([0.0, 0.5, 2.0]), size=shape)
        values = np.where(
            random.uniform(size=shape) < 0.5, changed * factors, self._logarithmic(shape) * upper
        )
        replaced = random.uniform(size=shape) < _REPLACED / shape[1]
        np.copyto(changed, values, where=replaced)
        return np.concatenate([perturbed, crossed, changed])

    def _sparse(self, count: int) -> Array:
        """Return kernels (count, M) with 1 to M parameters above 0, few as often as many."""
        shape = count, self._family.n_kernels
        share = shape[1] ** -self._random.uniform(size=(shape[0], 1))
        used = self._random.uniform(size=shape) < share
        used[np.arange(shape[0]), self._random.integers(shape[1], size=shape[0])] = True
        return np.where(used, self._logarithmic(shape) * self._family.upper, 0.0)

    def _logarithmic(self, shape: tuple[int, ...]) -> Array:
        """Return shares of the box on a logarithmic scale, as widths of kernels are."""
        return 10.0 ** self._random.uniform(-DECADES, 0.0, shape)


# LIBSVM's tolerance: J is off by less than the growth at which a descent ends.
_SVM_TOL = 1e-4
# Of Gram matrices that are kept between the SVM and the gradient.
_BYTES_KEPT = 2**28
# Parameters are seen in units in which the own curvature of each kernel is alike, as it grows with
# the weight; weights below this share of the largest count as this.
_LEAST_WEIGHT = 1e-6


def descend_together(
    family: Family, machine: SVM, known: Mixture, iterations: int, growth: float
) -> Mixture:
    """Return kernels of the same weights whose J is no larger, each near where it was.

    Parameters
    ----------
    family : Family
        On the n samples of the machine.
    machine : SVM
        Of these samples; its buffer is overwritten.
    known : Mixture
        The kernels, all with weights > 0, in the box of the family.
    iterations : int
        Of L-BFGS-B, at most so many.
    growth : float
        The descent ends where an iteration lowers J by less than this share.
    """
    weights, shape = known.weights, known.thetas.shape
    shares = np.maximum(weights / weights.max(), _LEAST_WEIGHT)
    units = np.repeat(np.sqrt(shares)[:, None], shape[1], axis=1).ravel()
    lower, upper = (np.tile(end, shape[0]) for end in (family.lower, family.upper))
    value_at = _Value(family, machine, weights)
    lowest, best = np.inf, known.thetas
    unit = 1.0

    def descended(scaled: Array) -> tuple[float, Array]:
        nonlocal lowest, best, unit
        thetas = np.clip(scaled / units, lower, upper).reshape(shape)
        value, gradient = value_at(thetas)
        if not np.isfinite(lowest):
            unit = max(value, float(np.finfo(np.float32).tiny))
        if value < lowest:
            lowest, best = value, thetas
        return value / unit, gradient.ravel() / (units * unit)

    minimize(
        descended,
        known.thetas.ravel() * units,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(lower * units, upper * units),
        options={"maxiter": iterations, "maxfun": 2 * iterations, "ftol": growth},
    )
    return merged(Mixture(weights, best))


class _Value:
    """J and its gradient as a function of the parameters of all kernels."""

    def __init__(self, family: Family, machine: SVM, weights: Array) -> None:
        n = family.n_samples
        self._rough, self._machine = family.single_precision(), machine
        self._weights = weights.astype(np.float32)
        self._n_kept = min(len(weights), int(_BYTES_KEPT / (4.0 * n**2)))
        self._kept = np.empty((self._n_kept, n, n), dtype=np.float32)

    def __call__(self, thetas: Array) -> tuple[float, Array]:
        machine, n_kept = self._machine, self._n_kept
        for k, theta in enumerate(thetas[:n_kept]):
            self._kept[k] = self._rough.gram(theta)
        combined = np.tensordot(self._weights[:n_kept], self._kept, axes=1)
        for weight, theta in zip(self._weights[n_kept:], thetas[n_kept:], strict=True):
            combined += weight * self._rough.gram(theta)
        machine.gram[...] = combined
        solution = machine.solve(tol=_SVM_TOL)
        a = solution.dual_coef
        value, gradient = float(np.abs(a).sum()), np.empty_like(thetas)
        for k, (weight, theta) in enumerate(zip(self._weights, thetas, strict=True)):
            gram = self._kept[k] if k < n_kept else self._rough.gram(theta)
            form, slope = self._rough.quadratic_form(theta, a, gram)
            value -= 0.5 * float(weight) * form
            gradient[k] = -0.5 * float(weight) * slope
        return value, gradient


def merged(known: Mixture) -> Mixture:
    """Return the mixture with kernels that are the same (`is_new`) in one, of their weights' sum.

    The one of the largest weight stays as it is.
    """
    thetas: list[Array] = []
    weights: list[float] = []
    for k in np.argsort(-known.weights, kind="stable"):
        theta, weight = known.thetas[k], float(known.weights[k])
        same = next((m for m, one in enumerate(thetas) if not is_new(theta, [one])), None)
        if same is None:
            thetas.append(theta)
            weights.append(weight)
        else:
            weights[same] += weight
    return Mixture(np.array(weights), np.array(thetas))
